import { expect, test } from 'vitest'
import { joined, pathsWithoutValue, split } from './redact.ts'

const DATA = { code: '4711', user: { pin: 7, names: ['Kim'] }, empty: null, text: 'hello' }

test.each([
  ['data.code', true],
  ['data.user.pin', true],
  ['data.user', true],
  ['data.user.none', false],
  ['data.user.names.0', false],
  ['data.text.length', false],
  ['data.empty.x', false],
  ['data.toString', false],
  ['data.user.constructor', false],
])('a value at %s: %s', (path, isThere) => {
  expect(pathsWithoutValue(DATA, [path])).toEqual(isThere ? [] : [path])
  const { shown, values } = split(DATA, [path])
  expect(values.map(([name]) => name)).toEqual(isThere ? [path] : [])
  expect(joined(shown, values)).toEqual(DATA)
})

test('null counts as no value', () => expect(pathsWithoutValue(DATA, ['data.empty'])).toEqual(['data.empty']))

test('a path inside another one is part of its value', () => {
  const { shown, values } = split(DATA, ['data.user', 'data.user.pin', 'data.code'])
  expect(shown).toEqual({ ...DATA, user: '[redacted]', code: '[redacted]' })
  expect(values.map(([path]) => path)).toEqual(['data.user', 'data.code'])
  expect(joined(shown, values)).toEqual(DATA)
})
