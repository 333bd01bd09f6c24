import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { ensureBuilt } from '../../scripts/console.ts'

const DIST = new URL('../dist/', import.meta.url)
const ASSETS = new URL('console/assets/', DIST)

/** The budget of the console for the scripts of its first page, compressed by gzip. */
const FIRST_BYTES_MAX = 250_000
/** HTTP/1.1 loads six files at a time. */
const FILES_MAX = 40

/** All built scripts by name. */
const scripts = new Map<string, string>()

beforeAll(() => {
  ensureBuilt()
  for (const name of readdirSync(fileURLToPath(ASSETS)).filter((name) => name.endsWith('.js'))) {
    scripts.set(name, readFileSync(new URL(name, ASSETS), 'utf8'))
  }
})

const named = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name).filter((name) => name !== undefined)

/** The scripts of the page that the server sends. */
const firstScripts = () => named(readFileSync(new URL('index.html', DIST), 'utf8'), /assets\/([^"]+\.js)/g)

/** These scripts and all that they import before they run. */
function loadedWith(names: readonly string[], loaded = new Set<string>()): Set<string> {
  for (const name of names.filter((name) => !loaded.has(name))) {
    loaded.add(name)
    loadedWith(named(scripts.get(name) ?? '', /(?:from|import)\s*["'`]\.\/([^"'`]+\.js)["'`]/g), loaded)
  }
  return loaded
}

test('the console is built for production, whatever NODE_ENV says: it loads half as much', () => {
  expect(process.env.NODE_ENV).toBe('test')
  expect(scripts.size).toBeGreaterThan(10)
  const development = [...scripts].filter(([, text]) => /jsxDEV|react\.dev\/link\/invalid-hook-call/.test(text))
  expect(development.map(([name]) => name)).toEqual([])
})

test('the first page loads at most 250 kB of scripts', () => {
  const bytes = [...loadedWith(firstScripts())].map((name) => gzipSync(scripts.get(name) ?? '').length)
  expect(bytes.length).toBeGreaterThan(0)
  expect(bytes.reduce((sum, length) => sum + length)).toBeLessThan(FIRST_BYTES_MAX)
})

test('no screen loads more than forty scripts, so that it opens after few round trips', () => {
  const first = [...loadedWith(firstScripts())]
  const screens = first.flatMap((name) => named(scripts.get(name) ?? '', /import\(\s*["'`]\.\/([^"'`]+\.js)/g))
  expect(screens.length).toBeGreaterThan(30)
  expect(screens.filter((screen) => loadedWith([...first, screen]).size > FILES_MAX)).toEqual([])
})
