/** What happens to an object, or of a text, that two members have changed. */
import { describe, expect, test } from 'vitest'
import { changesOf, comparedLines, mergeTexts } from '../src/parts/lines.ts'
import { isSame, merge, mergeItems, withAt } from '../src/parts/merge.ts'

const text = (letters: string) => [...letters].join('\n')

describe('texts', () => {
  test.each<[string, string, string, [number, number, string][]]>([
    ['nothing', 'abc', 'abc', []],
    ['a line', 'abc', 'axc', [[1, 2, 'x']]],
    ['an end', 'abc', 'abcd', [[3, 3, 'd']]],
    [
      'two places',
      'abcdef',
      'xbcdf',
      [
        [0, 1, 'x'],
        [4, 5, ''],
      ],
    ],
    [
      'a moved line',
      'abcd',
      'bcda',
      [
        [0, 1, ''],
        [4, 4, 'a'],
      ],
    ],
    ['all', 'ab', 'xyz', [[0, 2, 'xyz']]],
  ])('%s was changed', (_, before, after, changes) => {
    expect(changesOf([...before], [...after]).map(({ from, to, lines }) => [from, to, lines.join('')])).toEqual(changes)
  })

  test.each<[string, string, string, string | undefined]>([
    ['abcde', 'xbcde', 'abcdy', 'xbcdy'],
    ['abcde', 'abde', 'abcdez', 'abdez'],
    ['abcde', 'axcde', 'axcde', 'axcde'],
    ['abcde', 'axcde', 'axcdz', 'axcdz'],
    ['abcde', 'axcde', 'aycde', undefined],
    ['abcde', 'axcde', 'abyde', 'axyde'],
    ['abcde', 'acde', 'abyde', 'ayde'],
    ['abcde', 'abxcde', 'abyde', 'abxyde'],
    ['abcde', 'abxyde', 'abcze', 'abxyze'],
    ['abcde', 'axyde', 'abzde', undefined],
    ['abcde', 'abxcde', 'abycde', undefined],
  ])('%s as %s and as %s is %s', (base, mine, theirs, expected) => {
    const merged = (mine: string, theirs: string) => {
      const { parts, ...texts } = mergeTexts(text(base), text(mine), text(theirs))
      return parts.length > 0 ? undefined : texts.mine.replaceAll('\n', '')
    }
    expect(merged(mine, theirs)).toBe(expected)
    expect(merged(theirs, mine)).toBe(expected)
  })

  test('a comparison shows the lines around each change, and how many others there are', () => {
    const shown = comparedLines(text('abcdefghijklm'), text('abcdXefghijklZ'))
    expect(shown.map(({ is, text }) => `${is} ${text}`)).toEqual([
      'skipped 2',
      'kept c',
      'kept d',
      'new X',
      'kept e',
      'kept f',
      'skipped 4',
      'kept k',
      'kept l',
      'left m',
      'new Z',
    ])
    expect(comparedLines('a', 'a')).toEqual([{ is: 'kept', text: 'a' }])
  })

  test('a change of everything in a long text takes no more memory than its lines', () => {
    const lines = (word: string) => Array.from({ length: 5000 }, (_, at) => `${word} ${at}`)
    expect(changesOf(lines('old'), lines('new'))).toEqual([{ from: 0, to: 5000, lines: lines('new') }])
  })
})

describe('objects', () => {
  const base = { name: 'Spring', lists: [1, 2], html: text('abcde'), more: { rate: 1 } }

  test('what each of two changed is kept', () => {
    const mine = { ...base, name: 'Summer', html: text('xbcde') }
    const theirs = { ...base, lists: [3], html: text('abcdy'), more: { rate: 2 }, tags: ['new'] }
    expect(merge(base, mine, theirs)).toEqual({
      value: { name: 'Summer', lists: [3], html: text('xbcdy'), more: { rate: 2 }, tags: ['new'] },
      clashes: [],
    })
  })

  test('what both changed is a clash, and mine until one is chosen', () => {
    const mine = { ...base, name: 'Summer', more: { rate: 5, unit: 'h' } }
    const { more: _, ...theirs } = { ...base, name: 'Autumn' }
    const { value, clashes } = merge<object>(base, mine, theirs)
    expect(clashes).toEqual([
      { path: ['name'], mine: 'Summer', theirs: 'Autumn' },
      { path: ['more'], mine: { rate: 5, unit: 'h' }, theirs: undefined },
    ])
    expect(value).toEqual(mine)
    const chosen = clashes.reduce((object, { path, theirs }) => withAt(object, path, theirs), value)
    expect(chosen).toEqual(theirs)
  })

  test('of a long text only the lines are chosen that both changed; what else each changed is kept', () => {
    const [mine, theirs] = ['xbCde', 'abKdy'].map((letters) => ({ ...base, html: text(letters) })) as [typeof base, typeof base]
    const { value, clashes } = merge(base, mine, theirs)
    expect(clashes).toEqual([{ path: ['html'], mine: text('xbCdy'), theirs: text('xbKdy'), parts: [{ mine: 'C', theirs: 'K' }] }])
    expect(value.html).toBe(text('xbCdy'))
  })

  test('what was removed stays removed', () => {
    const { more: _, ...mine } = base
    expect(merge<object>(base, mine, { ...base, name: 'Autumn' })).toEqual({ value: { ...mine, name: 'Autumn' }, clashes: [] })
  })

  test('items that each has added to a set stay, and those that either has removed are missing', () => {
    expect(mergeItems(['a', 'b', 'c'], ['b', 'c', 'mine'], ['a', 'b', 'theirs'])).toEqual(['b', 'mine', 'theirs'])
  })

  test('the order of members makes no difference', () => {
    expect(isSame({ a: 1, b: [{ c: null, d: 2 }] }, { b: [{ d: 2, c: null }], a: 1 })).toBe(true)
    expect([isSame({ a: 1 }, { a: 1, b: 2 }), isSame([1], [1, 2]), isSame([], {})]).toEqual([false, false, false])
  })

  test('a value deep inside is replaced alone', () => {
    expect(withAt({ a: { b: 1, c: 2 }, d: 3 }, ['a', 'b'], 9)).toEqual({ a: { b: 9, c: 2 }, d: 3 })
    expect(withAt({ a: { b: 1, c: 2 } }, ['a', 'b'], undefined)).toEqual({ a: { c: 2 } })
  })
})
