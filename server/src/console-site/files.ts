/** The files of the built console, as `scripts/setup.mjs` left them in `console/dist`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuiltFile } from '../infra/http/built-files.ts'

const BUILT = fileURLToPath(new URL('../../../console/dist/', import.meta.url))
const FOLDER = 'console/assets'

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
}
const SUFFIXES = { br: '.br', gzip: '.gz', identity: '' } as const

/** The page of the console; null if it is not built. */
export function consolePage(folder: string = BUILT): string | null {
  const path = join(folder, 'index.html')
  return existsSync(path) ? readFileSync(path, 'utf8') : null
}

/** The scripts, styles, fonts and pictures of the console. Each is read at its first request and kept. */
export function consoleFiles(folder: string = BUILT): BuiltFile[] {
  const assets = join(folder, FOLDER)
  if (!existsSync(assets)) return []
  const names = new Set(readdirSync(assets))
  return [...names].flatMap((name): BuiltFile[] => {
    const type = TYPES[extname(name)]
    return type === undefined ? [] : [{ url: `/${FOLDER}/${name}`, type, read: reader(assets, name, names) }]
  })
}

function reader(assets: string, name: string, names: Set<string>): BuiltFile['read'] {
  const kept = new Map<string, Buffer>()
  return (encoding) => {
    const file = `${name}${SUFFIXES[encoding]}`
    if (!names.has(file)) return null
    const bytes = kept.get(file) ?? readFileSync(join(assets, file))
    kept.set(file, bytes)
    return bytes
  }
}
