import { describe, expect, test } from 'vitest'
import { withoutFailedChain } from './arc.ts'

const headersOf = (lines: string[]) => lines.map((raw) => ({ name: raw.slice(0, raw.indexOf(':')).toLowerCase(), raw }))

/** A set, as its three headers. */
const setOf = (i: number | string, cv: string): string[] => [
  `ARC-Seal: i=${i}; a=rsa-sha256; cv=${cv}; d=example.org; s=a1; b=eA==`,
  `ARC-Message-Signature: i=${i}; a=rsa-sha256; d=example.org; s=a1; h=From; bh=eA==; b=eA==`,
  `ARC-Authentication-Results: i=${i}; example.org; dkim=pass header.i=@example.net`,
]
const [seal, signature, results] = setOf(1, 'none') as [string, string, string]
const chainOf = (sets: number) => Array.from({ length: sets }, (_, at) => setOf(at + 1, at === 0 ? 'none' : 'pass')).flat()

const OTHERS = ['From: kim@example.com', 'Subject: ARC-Seal: i=9', 'X-ARC-Seal: i=9', 'Authentication-Results: i=9; example.org']
const kept = (chain: string[]) => withoutFailedChain(headersOf([...chain, ...OTHERS])).map(({ raw }) => raw)

describe('ARC headers stay', () => {
  test.each<[string, string[]]>([
    ['none', []],
    ['one set', chainOf(1)],
    ['50 sets', chainOf(50)],
    ['sets in any order', chainOf(12).reverse()],
    ['the number after other tags', [seal.replace('i=1; a=rsa-sha256;', 'a=rsa-sha256; i=1;'), signature, results]],
    ['folds and blanks', [seal.replace('i=1; ', '\r\n\ti \r\n = 1 ;\r\n '), signature, results]],
    ['comments', [seal, signature, results.replace('i=1;', '(one) i=1 (of one; i=2);')]],
    ['a leading zero', [seal.replace('i=1', 'i=01'), signature, results]],
    ['a status in capitals', [seal.replace('none', 'NONE'), signature, results]],
  ])('%s', (_, chain) => expect(kept(chain)).toEqual([...chain, ...OTHERS]))
})

describe('ARC headers are removed', () => {
  test.each<[string, string[]]>([
    ['51 sets', chainOf(51)],
    ['no seal', [signature, results]],
    ['no signature', [seal, results]],
    ['no results', [seal, signature]],
    ['two seals', [...chainOf(1), seal]],
    ['two signatures', [...chainOf(1), signature]],
    ['two results', [...chainOf(1), results]],
    ['a gap', [...chainOf(1), ...setOf(3, 'pass')]],
    ['a first set of another number', setOf(2, 'pass')],
    ['headers of different sets', [...chainOf(1), setOf(2, 'pass')[0] as string, signature, setOf(2, 'pass')[2] as string]],
    ['the number 0', [...setOf(0, 'none'), ...chainOf(1)]],
    ['no number', [...chainOf(1), 'ARC-Seal: a=rsa-sha256; cv=pass']],
    ['a number that is none', setOf('1x', 'none')],
    ['a number of three digits', setOf('001', 'none')],
    ['a tag in capitals', [seal.replace('i=1', 'I=1'), signature, results]],
    ['no status', [seal.replace('cv=none; ', ''), signature, results]],
    ['a first status that is not none', setOf(1, 'pass')],
    ['a later status that is not pass', [...chainOf(1), ...setOf(2, 'none')]],
    ['a failed status', [...chainOf(2), ...setOf(3, 'fail')]],
  ])('%s', (_, chain) => expect(kept(chain)).toEqual(OTHERS))
})
