/** The browser of the tests: a Chromium that comes inside a package, or the one that `CARILLON_CHROMIUM` names. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/carillon-chromium', import.meta.url))

/** Has the package unpack its libraries too, which a bare machine lacks. */
const AS_IF_BARE = 'AWS_Lambda_nodejs24.x'
const UNPACK = "import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())"

/** The package expects its fonts in a folder of its own choice, and its browser ends without fonts. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(CACHE, 'fonts', 'fonts')}</dir>
  <cachedir>${join(CACHE, 'fonts-cache')}</cachedir>
</fontconfig>
`

/** Unpacks the browser once, into a folder that appears when it is complete. */
function unpacked(): string {
  if (existsSync(CACHE)) return CACHE
  const next = `${CACHE}.${process.pid}`
  mkdirSync(next, { recursive: true })
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', UNPACK], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { ...process.env, TMPDIR: next, AWS_EXECUTION_ENV: AS_IF_BARE },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`Chromium could not be unpacked:\n${stderr}`)
  if (existsSync(CACHE)) rmSync(next, { recursive: true })
  else renameSync(next, CACHE)
  return CACHE
}

/** Names the fonts by their place, which is another one once a checkout was moved. Replaces the file at once, because another browser may read it. */
function writeFontsFile(folder: string): void {
  const file = join(folder, 'fonts', 'fonts.conf')
  if (existsSync(file) && readFileSync(file, 'utf8') === FONTS) return
  writeFileSync(`${file}.${process.pid}`, FONTS)
  renameSync(`${file}.${process.pid}`, file)
}

/** Where browsers share memory. In a container it may be too small for them. */
const SHARED_MEMORY = '/dev/shm'
const SHARED_BYTES = 1024 ** 3

/** Has the browser share memory in memory where there is room, instead of creating a file on the disk for each piece. */
async function sharingOptions(): Promise<{ ignoreDefaultArgs?: string[] }> {
  const room = await statfs(SHARED_MEMORY).catch(() => null)
  return room && room.bavail * room.bsize >= SHARED_BYTES ? { ignoreDefaultArgs: ['--disable-dev-shm-usage'] } : {}
}

/** Starts the browser. */
export async function launchBrowser(): Promise<Browser> {
  const sharing = await sharingOptions()
  const own = process.env.CARILLON_CHROMIUM
  // Pages of a context share a process, which compiles the console once. Without a graphics card, nothing is gained by another one that draws.
  const args = ['--no-sandbox', '--font-render-hinting=none', '--lang=en-AU', '--process-per-site', '--in-process-gpu']
  if (own) return chromium.launch({ executablePath: own, args, ...sharing })
  const folder = unpacked()
  writeFontsFile(folder)
  return chromium.launch({
    ...sharing,
    executablePath: join(folder, 'chromium'),
    args: [...args, '--headless=shell', '--no-zygote'],
    env: { ...process.env, LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'), FONTCONFIG_PATH: join(folder, 'fonts'), HOME: folder } as Record<
      string,
      string
    >,
  })
}
