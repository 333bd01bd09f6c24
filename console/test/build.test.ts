import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ensureBuilt } from '../../scripts/console.ts'

const ASSETS = new URL('../dist/console/assets/', import.meta.url)

test('the console is built for production, whatever NODE_ENV says: it loads half as much', () => {
  expect(process.env.NODE_ENV).toBe('test')
  ensureBuilt()
  const scripts = readdirSync(fileURLToPath(ASSETS)).filter((name) => name.endsWith('.js'))
  expect(scripts.length).toBeGreaterThan(10)
  const read = (name: string) => readFileSync(new URL(name, ASSETS), 'utf8')
  expect(scripts.filter((name) => /jsxDEV|react\.dev\/link\/invalid-hook-call/.test(read(name)))).toEqual([])
})
