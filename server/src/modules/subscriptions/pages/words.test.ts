import { describe, expect, test } from 'vitest'
import * as languages from './words/index.ts'

type Texts = { [name: string]: string | Texts }

/** Every text under its path. */
const textsOf = (texts: Texts, path = ''): [path: string, text: string][] =>
  Object.entries(texts).flatMap(([name, value]) =>
    typeof value === 'string' ? [[`${path}${name}`, value]] : textsOf(value, `${path}${name}.`),
  )

const namesIn = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort()
const english = new Map(textsOf(languages.en))

describe.each(Object.entries(languages))('the words in %s', (_, words) => {
  test('speak of whom and what the English ones speak of', () => {
    const spoken = textsOf(words).map(([path, text]) => [path, namesIn(text)])
    expect(spoken).toEqual([...english].map(([path, text]) => [path, namesIn(text)]))
  })

  test('are all there, without space around them', () => {
    for (const [path, text] of textsOf(words)) expect([path, text]).toEqual([path, text.trim()])
    expect(textsOf(words).filter(([, text]) => text === '')).toEqual([])
  })
})
