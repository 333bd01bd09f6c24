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

describe.each(Object.entries(languages))('the texts in %s', (_, words) => {
  test('have the same placeholders as the English ones', () => {
    const placeholders = textsOf(words).map(([path, text]) => [path, namesIn(text)])
    expect(placeholders).toEqual([...english].map(([path, text]) => [path, namesIn(text)]))
  })

  test('are complete, without surrounding white space', () => {
    for (const [path, text] of textsOf(words)) expect([path, text]).toEqual([path, text.trim()])
    expect(textsOf(words).filter(([, text]) => text === '')).toEqual([])
  })
})
