import fc from 'fast-check'
import { expect, test } from 'vitest'
import { indexedParts, rarePartsOf, withoutCommonParts } from './common-parts.ts'

const without = (q: string, common: string[]) => withoutCommonParts(q, new Set(indexedParts(q)).difference(new Set(common)))

test('the parts of a term are three letters or digits in a row, each once, in lower case', () => {
  expect(indexedParts('Ana.Anand@x.io')).toEqual(['ana', 'nan', 'and'])
  expect(indexedParts('a b')).toEqual([])
})

test('a pattern has the rare parts of a term, in their order', () => {
  expect(without('user77@example.com', ['exa', 'xam', 'amp', 'mpl', 'ple', 'com', 'use', 'ser'])).toBe('%er77%')
  expect(without('mia-tan@kookaburra.example', ['oka', 'kab', 'exa', 'xam', 'amp', 'mpl', 'ple'])).toBe('%mia%tan%kook%aburra%')
  expect(without('kookaburra', ['oka', 'kab', 'abu'])).toBe('%kook%burra%')
  expect(without('kookaburra', ['oka'])).toBe('%kook%aburra%')
  expect(without('Mia_Tan', ['mia'])).toBe('%Tan%')
})

test('a term has no pattern if all of its parts are rare, or none, or if it is too long for its parts to be looked at', () => {
  expect(without('quokka', [])).toBeNull()
  expect(without('quokka', ['quo', 'uok', 'okk', 'kka'])).toBeNull()
  expect(without('é@-', [])).toBeNull()
  // In lower case it has another length.
  expect(indexedParts('İstanbul')).toEqual([])
  expect(withoutCommonParts('İstanbul', new Set(['sta']))).toBeNull()
  const long = Array.from({ length: 100 }, (_, at) => `x${at.toString(36).padStart(2, '0')}`)
  expect(indexedParts(long.join('-'))).toEqual(long.slice(0, 48))
  expect(without(long.join('-'), [])).toBe(`%${long.slice(0, 48).join('%')}%`)
})

test('two or three parts that no sampled user has are searched for, if they do not overlap; otherwise all that are not common', () => {
  const sampled = (q: string, users: Record<string, number>) => new Map(indexedParts(q).map((part) => [part, users[part] ?? 0]))
  const rare = (q: string, users: Record<string, number> = {}) => [...rarePartsOf(q, sampled(q, users))]
  expect(rare('user777123@x', { use: 190, ser: 190, er7: 20, r77: 2 })).toEqual(['777', '123'])
  expect(rare('kookaburra-quokka')).toEqual(['koo', 'kab', 'urr'])
  // One is not enough, whatever overlaps it.
  expect(rare('user77@x', { use: 190, ser: 190, er7: 11 })).toEqual(['er7', 'r77'])
  expect(rare('wombat', { wom: 1, omb: 0, mba: 0, bat: 12 })).toEqual(['wom', 'omb', 'mba'])
  expect(rare('ab')).toEqual([])
  // Parts beyond those that were counted are not known to be rare.
  expect([...rarePartsOf('wombat', new Map([['wom', 3]]))]).toEqual(['wom'])
})

const matchesInOrder = (text: string, parts: string[]) => {
  let from = 0
  return parts.every((part) => {
    const at = text.indexOf(part, from)
    from = at + part.length
    return at >= 0
  })
}

test('every text that contains a term matches its pattern', () => {
  const text = fc.string({ unit: fc.constantFrom(...'abcABC12@-_%\\é'), maxLength: 12 })
  fc.assert(
    fc.property(text, text, text, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), (before, q, after, isRare) => {
      const pattern = withoutCommonParts(q, new Set(indexedParts(q).filter((_, at) => isRare[at])))
      expect(matchesInOrder(before + q + after, pattern?.split('%') ?? [])).toBe(true)
    }),
  )
})
