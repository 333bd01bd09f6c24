/**
 * Takes the pictures of `docs/console` again: `node scripts/screenshots.mjs`, or with the names of some screens. It starts a server of its
 * own with sample data. Names of users are in Chinese and Arabic too, for which the browser of the tests has no fonts: take the pictures
 * with one of the system, by CARILLON_CHROMIUM. Look at every picture before you commit it.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fillProject } from '../console/test/sample-project.ts'
import { addressOf, SCREENS } from '../console/test/screens.ts'
import { createOwner, openSite } from '../console/test/site.ts'
import { generateKey } from '../server/src/modules/keys/index.ts'
import { ensureBuilt } from './console.ts'

const folder = fileURLToPath(new URL('../docs/console/', import.meta.url))
const names = process.argv.slice(2)
const wanted = SCREENS.filter(({ name }) => names.length === 0 || names.includes(name))

/** Each picture by the end of its name. */
const MODES = {
  '': { colorScheme: 'light', width: 1440, height: 900 },
  '-dark': { colorScheme: 'dark', width: 1440, height: 900 },
  '-narrow': { colorScheme: 'light', width: 360, height: 740 },
}

/** Higher than any page. */
const TALL = 4000

/** Starts a server with a database of its own, which is deleted with it. */
async function start(env) {
  const dataDir = mkdtempSync(join(tmpdir(), 'carillon-screenshots-'))
  const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))
  const child = spawn(process.execPath, [main, 'all'], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  await new Promise((resolve) => {
    child.stdout.on('data', (chunk) => {
      text += chunk
      if (/Console: \S+/.test(text)) resolve()
    })
  })
  const [, url] = /ready at (\S+);/.exec(text) ?? []
  return {
    url,
    log: () => text,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await once(child, 'exit')
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

ensureBuilt()
mkdirSync(folder, { recursive: true })
await using site = await openSite({ key: generateKey('sk_', randomBytes), start })
const signedIn = await (await site.context()).newPage()
await createOwner(site, signedIn)
await fillProject(site)
const outside = await (await site.context()).newPage()
for (const screen of wanted) {
  const { name, heading, isOutside } = screen
  const path = await addressOf(site, screen)
  const page = isOutside ? outside : signedIn
  for (const [end, { colorScheme, width, height }] of Object.entries(MODES)) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height })
    await page.goto(path)
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
    await page.locator('[role="status"] [role="progressbar"]').first().waitFor({ state: 'detached' })
    const frames = page.frames().slice(1)
    for (const frame of frames) await frame.locator('body > :not(script)').first().waitFor({ state: 'attached' })
    // The browser lays out and paints only frames that are in view, and their heights follow.
    if (frames.length > 0) {
      const resize = async (height) => {
        await page.setViewportSize({ width, height })
        for (const frame of frames) await frame.evaluate('new Promise((drawn) => setTimeout(drawn, 400))')
      }
      await resize(TALL)
      await page.setViewportSize({ width, height })
      await resize(await page.evaluate('document.documentElement.scrollHeight'))
    }
    await page.evaluate('document.fonts.ready.then(() => undefined)')
    await page.screenshot({ path: join(folder, `${name}${end}.png`), fullPage: true, animations: 'disabled', scale: 'css' })
  }
  process.stdout.write(`${name}\n`)
}
