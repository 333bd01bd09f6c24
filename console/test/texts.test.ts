/** The texts: every language has the same keys, and every key that a screen names exists. */
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { CHANNELS, channelTextsIn } from '../src/parts/channels.ts'
import { LANGUAGES, type Language } from '../src/texts/languages.ts'

const SOURCE = fileURLToPath(new URL('../src', import.meta.url))
const FIRST = 'en-AU.json'
const folders = globSync(`{texts,screens/*/texts}/${FIRST}`, { cwd: SOURCE }).map(dirname)

type Texts = { [key: string]: string | Texts }
const read = (path: string): Texts => JSON.parse(readFileSync(join(SOURCE, path), 'utf8'))
const keysOf = (texts: Texts, before = ''): string[] =>
  Object.entries(texts).flatMap(([key, text]) => (typeof text === 'string' ? [`${before}${key}`] : keysOf(text, `${before}${key}.`)))
const parameters = (text: string) => (text.match(/\{\{\w+\}\}/g) ?? []).toSorted()
const textAt = (texts: Texts, key: string): string =>
  key.split('.').reduce<string | Texts>((found, part) => (found as Texts)[part] as string | Texts, texts) as string

describe.each(folders)('%s', (folder) => {
  const first = read(join(folder, FIRST))
  const others = globSync('*.json', { cwd: join(SOURCE, folder) }).filter((name) => name !== FIRST)

  test.each(others)('%s has the same keys with the same parameters', (name) => {
    const other = read(join(folder, name))
    expect(keysOf(other).toSorted()).toEqual(keysOf(first).toSorted())
    const differing = keysOf(first).filter((key) => `${parameters(textAt(first, key))}` !== `${parameters(textAt(other, key))}`)
    expect(differing).toEqual([])
  })

  test('has every key that its screens name', () => {
    const area = dirname(folder)
    const isShared = area === '.'
    const names = new Set([...keysOf(first), ...keysOf(read(join('texts', FIRST)))].map((key) => key.replace(/_(?:one|other)$/, '')))
    const files = globSync(isShared ? '{shell,parts}/*.{ts,tsx}' : `${area}/**/*.{ts,tsx}`, { cwd: SOURCE })
    const missing = files.flatMap((file) =>
      [...readFileSync(join(SOURCE, file), 'utf8').matchAll(/\bt\('([\w.-]+)'/g)]
        .map(([, key = '']) => key)
        .filter((key) => !names.has(key))
        .map((key) => `${basename(file)}: ${key}`),
    )
    expect(missing).toEqual([])
  })
})

describe('the texts of channels', () => {
  const first = channelTextsIn('en-AU')

  test.each(Object.keys(LANGUAGES) as Language[])('have the same parameters in %s', (language) => {
    const parametersIn = (texts: Texts) => keysOf(texts).map((key) => `${key} ${parameters(textAt(texts, key))}`)
    expect(parametersIn(channelTextsIn(language))).toEqual(parametersIn(first))
  })

  test.each(folders)('%s says in another way only texts that there are', (folder) => {
    const { channel } = read(join(folder, FIRST))
    const known = new Set(keysOf(first))
    expect(channel === undefined ? [] : keysOf(channel as Texts).filter((key) => !known.has(key))).toEqual([])
  })

  test('are found', () => expect(CHANNELS.length).toBeGreaterThan(4))
})

describe('the screens of lists', () => {
  const OWN = ['title', 'about', 'more', 'empty']
  const pages = globSync('screens/**/*.tsx', { cwd: SOURCE }).flatMap((path) =>
    [...readFileSync(join(SOURCE, path), 'utf8').matchAll(/<ListPage\s+texts="([\w-]+)"(\s+hasNoSearch)?/g)].map(
      ([, area = '', hasNoSearch]) => ({
        area,
        needed: hasNoSearch === undefined ? [...OWN, 'search'] : OWN,
      }),
    ),
  )

  test.each(pages)('$area has the texts that it leaves to `ListPage`', ({ area, needed }) => {
    const texts = read(join('screens', area, 'texts', FIRST))
    expect(needed.filter((key) => typeof texts[key] !== 'string')).toEqual([])
  })

  test('are found', () => expect(pages.length).toBeGreaterThan(10))
})
