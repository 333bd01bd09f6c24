import { describe, expect, test } from 'vitest'
import { ratioOf } from '../../../test/cpu-time.ts'
import { LiquidError, liquidTags } from '../liquid/liquid.ts'
import { readHtml } from './html-reader.ts'
import { maskValidLiquid } from './liquid-mask.ts'
import { plainTextOf } from './plain-text.ts'

const repeated = (part: string) => (length: number) => part.repeat(length / part.length)
/** Joins numbered parts, so that no two are equal. */
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
    '&zwj;',
    '&nbsp;',
    '<div style="display:none',
    '<div style="display:none">',
    '<a href="https://a">{% if x %}',
    '{% if x %}<a href="https://a">{% elsif y %}{% endif %}',
  ].map((part): [string, (length: number) => string] => [JSON.stringify(part), repeated(part)]),
  ['attributes', numbered('<a ', (number) => `a${number} `)],
  ['what begins like a placeholder', numbered('', (number) => `_lq${number}tag`)],
  [
    'branches that end a link',
    (length) => `<a href="https://${'a'.repeat(length / 2)}">b{% if x %}${'</a>{% elsif y %}'.repeat(length / 40)}{% endif %}`,
  ],
  ['spaces in a line', (length) => `<pre>a${' '.repeat(length)}b</pre>`],
]

const functions: [name: string, run: (text: string) => unknown][] = [
  ['reading HTML', (text) => readHtml(maskValidLiquid(text), { readsConditions: true })],
  ['converting to plain text', orRefused(plainTextOf)],
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

describe.each(functions)('%s takes linear time', (_, run) => {
  test.each(inputs)('for half a megabyte of %s', (_, of) => expect(ratioOf(run, of)).toBeLessThan(3))
})

test.each(['{{ x }}', '{% if x %}', '{{ x }}\n'])('finding Liquid tags takes linear time for half a megabyte of %j', (part) => {
  expect(ratioOf(liquidTags, repeated(part))).toBeLessThan(3)
})
