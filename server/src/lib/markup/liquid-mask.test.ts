import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { liquidSoup } from '../../../test/arbitrary-html.ts'
import { LiquidError } from '../liquid/liquid.ts'
import { maskLiquid, maskValidLiquid, piecesIn } from './liquid-mask.ts'

const piecesOf = (text: string) => maskLiquid(text).pieces.map((piece) => piece.text)

describe('masking', () => {
  test.each([
    ['a {{ x }} b {% if y %}c{% endif %}', ['{{ x }}', '{% if y %}', '{% endif %}']],
    ['{{ "}}" | append: \'<a href="\' }}>', ['{{ "}}" | append: \'<a href="\' }}']],
    ['{% comment %}<p>{{ x }}{% if %}{% endcomment %}{{ y }}', ['{% comment %}<p>{{ x }}{% if %}{% endcomment %}', '{{ y }}']],
    ['{% raw %}{{ x }}{% endraw %}', ['{% raw %}', '{% endraw %}']],
    ['no Liquid } { % }}', []],
  ])('%s', (text, pieces) => expect(piecesOf(text)).toEqual(pieces))

  test.each(['{{ x', '{% if x', '{% raw %}{{ x }}', '{% comment %}{{ x }}'])('leaves %s unchanged, which is invalid Liquid', (text) => {
    expect(() => maskLiquid(text)).toThrow(LiquidError)
    expect(maskValidLiquid(text)).toMatchObject({ text, pieces: [] })
  })
})

test('placeholders do not occur in the text', () => {
  const { text, unmask } = maskLiquid('_lq0tag0z _LQ1TAG0z {{ x }} _lq3tag')
  expect(text).toBe('_lq0tag0z _LQ1TAG0z _lq2tag0z _lq3tag')
  expect(unmask(text)).toBe('_lq0tag0z _LQ1TAG0z {{ x }} _lq3tag')
})

test('placeholders are restored in derived text', () => {
  const masked = maskLiquid('{{ a }}{{ b }}{{ c }}')
  expect(piecesIn(masked, masked.text.split(masked.placeholder).reverse().join(''))).toEqual([])
  expect(piecesIn(masked, `<p>${masked.text}</p>`)).toEqual([0, 1, 2])
  expect(masked.unmask(`<p>${masked.text}</p>`)).toBe('<p>{{ a }}{{ b }}{{ c }}</p>')
})

test('lines are those of the source, although a placeholder can stand for several lines', () => {
  const source = 'one\n{{ a\n\n}} four {% if b\n%}\nsix'
  const { text, sourceLine } = maskLiquid(source)
  const lines = text.split('\n')
  expect(lines.map((_, index) => sourceLine(index + 1))).toEqual([1, 2, 6])
})

describe('random HTML with Liquid', () => {
  const isLiquid = (text: string) => maskValidLiquid(text).pieces.length > 0

  test('is unchanged, byte for byte, after masking and restoring', () => {
    let masks = 0
    fc.assert(
      fc.property(liquidSoup, (source) => {
        const { text, unmask, pieces } = maskValidLiquid(source)
        if (pieces.length > 0) masks++
        expect(unmask(text)).toBe(source)
      }),
      { numRuns: 2000 },
    )
    expect(masks).toBeGreaterThan(500)
  })

  test('has every character outside Liquid at its mapped position', () => {
    fc.assert(
      fc.property(liquidSoup.filter(isLiquid), (source) => {
        const { text, placeholder, sourceOffset } = maskLiquid(source)
        let at = 0
        for (const part of text.split(new RegExp(`(${placeholder.source.replace(/[()]/g, '')})`))) {
          if (part.search(placeholder) !== 0) expect(source.startsWith(part, sourceOffset(at))).toBe(true)
          at += part.length
        }
        expect(sourceOffset(text.length)).toBe(source.length)
      }),
    )
  })
})
