import { describe, expect, test } from 'vitest'
import { LiquidError, liquidTags } from '../liquid.ts'
import { readHtml } from './html-reader.ts'
import { maskValidLiquid } from './liquid-mask.ts'
import { plainTextOf } from './plain-text.ts'

const repeated = (part: string) => (length: number) => part.repeat(length / part.length)
/** Each a little different from the others. */
const numbered = (begin: string, part: (number: number) => string) => (length: number) => {
  const parts = [begin]
  for (let written = 0, number = 0; written < length; number++) {
    parts.push(part(number))
    written += parts.at(-1)?.length ?? 0
  }
  return parts.join('')
}

const inputs: [name: string, of: (length: number) => string][] = [
  ...[
    '<',
    '{{',
    '{%',
    ' ',
    '\n',
    '&',
    '&#',
    '_lq0tag',
    '<!--',
    '<!--[if ',
    '<a href="',
    '<style>',
    '{{ "',
    '{% raw %}',
    '</div>',
    '<div>',
  ].map((part): [string, (length: number) => string] => [JSON.stringify(part), repeated(part)]),
  ['attributes', numbered('<a ', (number) => `a${number} `)],
  ['what begins like a placeholder', numbered('', (number) => `_lq${number}tag`)],
  ['spaces in a line', (length) => `<pre>a${' '.repeat(length)}b</pre>`],
]

const functions: [name: string, run: (text: string) => unknown][] = [
  ['read', (text) => readHtml(maskValidLiquid(text), { readsConditions: true })],
  ['made into text', orRefused(plainTextOf)],
]

function orRefused(run: (text: string) => unknown): (text: string) => unknown {
  return (text) => {
    try {
      return run(text)
    } catch (error) {
      if (error instanceof LiquidError) return undefined
      throw error
    }
  }
}

/** What a call costs this thread: what others do to the machine does not count. */
function costOf(run: () => unknown): number {
  const began = process.threadCpuUsage()
  run()
  return process.threadCpuUsage(began).user
}

/** Below this the clock says little. */
const MICROSECONDS_MIN = 3000
const ATTEMPTS_MAX = 4

function ratioOf(run: (text: string) => unknown, of: (length: number) => string): number {
  const [half, whole] = [of(500_000), of(1_000_000)]
  run(of(10_000))
  let ratio = Number.POSITIVE_INFINITY
  // Now and then memory is collected during the longer one only.
  for (let attempt = 0; attempt < ATTEMPTS_MAX && ratio >= 3; attempt++) {
    const least = Math.max(
      costOf(() => run(half)),
      MICROSECONDS_MIN,
    )
    ratio = costOf(() => run(whole)) / least
  }
  return ratio
}

describe.each(functions)('a megabyte is %s in time that grows with its length:', (_, run) => {
  test.each(inputs)('of %s', (_, of) => expect(ratioOf(run, of)).toBeLessThan(3))
})

test.each(['{{ x }}', '{% if x %}', '{{ x }}\n'])('so are the tags found in a megabyte of %j', (part) => {
  expect(ratioOf(liquidTags, repeated(part))).toBeLessThan(3)
})
