import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { htmlSoup, liquidSoup } from '../../../test/arbitrary-html.ts'
import { anyText } from '../../../test/arbitrary-text.ts'
import { tagsByParser } from '../../../test/tags-by-parser.ts'
import { decodeAttribute, encodeAttribute } from './attribute-text.ts'
import { type HtmlTag, type HtmlToken, readHtml } from './html-reader.ts'
import { maskValidLiquid } from './liquid-mask.ts'

const isTag = (token: HtmlToken): token is HtmlTag => token.kind === 'tag'

/** The source of each token. */
function sourcesOf(source: string, options = {}): string[] {
  const masked = maskValidLiquid(source)
  return readHtml(masked, options).map(({ begin, end }) => source.slice(masked.sourceOffset(begin), masked.sourceOffset(end)))
}

describe('tokens', () => {
  test.each([
    ['<!doctype html><p>a</p>', ['<!doctype html>', '<p>', 'a', '</p>']],
    ['a < b <c', ['a < b ']],
    ['a<!-- <p> -->b<!-- c', ['a', '<!-- <p> -->', 'b', '<!-- c']],
    ['a<p class="', ['a']],
    ['<p title="a > b">c', ['<p title="a > b">', 'c']],
    ['<style>a > b {} <p></style><p>', ['<style>', 'a > b {} <p>', '</style>', '<p>']],
    ['<TITLE><p></title\n>', ['<TITLE>', '<p>', '</title\n>']],
    ['<script>"</p><!-- "</script>a', ['<script>', '"</p><!-- "', '</script>', 'a']],
    ['{% if a > b %}<p>{{ "<p>" }}', ['{% if a > b %}', '<p>', '{{ "<p>" }}']],
    ['a <{{ x }} b>', ['a <{{ x }} b>']],
    ['<style{{ x }}><p></style>', ['<style{{ x }}>', '<p>', '</style>']],
    ['a\r\n<p\r\n>b', ['a\r\n', '<p\r\n>', 'b']],
  ])('of %j', (source, tokens) => expect(sourcesOf(source)).toEqual(tokens))

  test('conditional comments are comments, or markup with `readsConditions`', () => {
    const source = '<!--[if mso]><p><![endif]--><!--[if !mso]><!--><b><!--<![endif]-->'
    expect(sourcesOf(source)).toEqual(['<!--[if mso]><p><![endif]-->', '<!--[if !mso]><!-->', '<b>', '<!--<![endif]-->'])
    expect(sourcesOf(source, { readsConditions: true }).filter((token) => /^<\w/.test(token))).toEqual(['<p>', '<b>'])
  })
})

describe('attributes', () => {
  test.each([
    ['<a href="x">', [['href', 'x', '"']]],
    ["<a HREF = 'x'>", [['href', 'x', "'"]]],
    ['<a href=x/>', [['href', 'x/', '']]],
    ['<a href>', [['href', '', '']]],
    ['<a href= >', [['href', '', '']]],
    ['<a href="">', [['href', '', '"']]],
    [
      "<a b='c'd=e>",
      [
        ['b', 'c', "'"],
        ['d', 'e', ''],
      ],
    ],
    [
      '<a b c=d>',
      [
        ['b', '', ''],
        ['c', 'd', ''],
      ],
    ],
    ['<a b\n=\n"c">', [['b', 'c', '"']]],
    [
      '<a b=c b=d>',
      [
        ['b', 'c', ''],
        ['b', 'd', ''],
      ],
    ],
    [
      '<a {% if x %}b="c"{% else %}b="d"{% endif %}>',
      [
        ['b', 'c', '"'],
        ['b', 'd', '"'],
      ],
    ],
    ['<a {{ x }}b={{ y }}>', [['b', '{{ y }}', '']]],
    ['<a {{ x }}>', []],
  ])('of %j', (source, expected) => {
    const masked = maskValidLiquid(source)
    const [tag] = readHtml(masked).filter(isTag)
    expect(tag?.name).toBe('a')
    expect(tag?.attributes.map(({ name, value, quote }) => [name, masked.unmask(value), quote])).toEqual(expected)
    for (const { name, value, begin, end, valueBegin, valueEnd } of tag?.attributes ?? []) {
      expect(masked.text.slice(begin, end).toLowerCase().startsWith(name)).toBe(true)
      expect(masked.text.slice(valueBegin, valueEnd)).toBe(value)
    }
  })

  test.each([
    ['a&amp;b', 'a&b'],
    ['?a=1&copy=2&copy;', '?a=1&copy=2©'],
    ['&colon;&#x2F;&#47;&check;', '://✓'],
    ['&bogus;', '&bogus;'],
    ['&#0;&#xD800;&#x80;', '\uFFFD\uFFFD€'],
  ])('%j means %j', (source, text) => expect(decodeAttribute(source)).toBe(text))

  test('encoded text decodes to itself in any quotes', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom('"', "'", ''), (text, quote) => {
        const written = encodeAttribute(text)
        expect(decodeAttribute(written)).toBe(text)
        const html = `<a b=${quote}${written}${quote} c>`
        const [tag] = readHtml(maskValidLiquid(html)).filter(isTag)
        if (text !== '' || quote !== '') expect(tag?.attributes.map(({ name }) => name)).toEqual(['b', 'c'])
      }),
    )
  })
})

describe('random HTML', () => {
  test('equals its tokens in order, byte for byte, up to a tag without an end', () => {
    fc.assert(
      fc.property(liquidSoup, (source) => {
        const tokens = sourcesOf(source)
        expect(source.startsWith(tokens.join(''))).toBe(true)
        expect(source.slice(tokens.join('').length)).toMatch(/^(?:<[\s\S]*)?$/)
      }),
      { numRuns: 2000 },
    )
  })

  test('has the tags and attributes that parse5 finds, at their positions', () => {
    fc.assert(
      fc.property(htmlSoup, (html) => {
        const masked = maskValidLiquid(html)
        const tags = readHtml(masked).filter((token) => isTag(token) && !token.isEnd) as HtmlTag[]
        const firsts = tags.map(({ name, attributes }) => ({
          name,
          attributes: [...new Map(attributes.map(({ name, value }): [string, string] => [name, value]).reverse())].reverse(),
        }))
        expect(firsts.map(({ attributes }) => new Map(attributes))).toEqual(tagsByParser(html).map(({ attributes }) => new Map(attributes)))
        for (const { valueBegin, valueEnd, value } of tags.flatMap(({ attributes }) => attributes)) {
          const source = html.slice(valueBegin, valueEnd).replace(/\r\n?/g, '\n').replaceAll('\0', '\uFFFD')
          expect(decodeAttribute(source)).toBe(value)
        }
      }),
      { numRuns: 3000 },
    )
  })
})
