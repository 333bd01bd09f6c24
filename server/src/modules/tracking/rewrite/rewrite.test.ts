import fc from 'fast-check'
import { Liquid } from 'liquidjs'
import { describe, expect, test } from 'vitest'
import { brokenLiquidSoup, htmlSoup, liquidSoup } from '../../../../test/arbitrary-html.ts'
import { ratioOf } from '../../../../test/cpu-time.ts'
import { tagsByParser } from '../../../../test/tags-by-parser.ts'
import { addPixel } from './pixel.ts'
import { createLinkRewriter } from './rewrite.ts'

const NONCE = '314159265358979323846264'
const { numberLinks, wrapLinks } = createLinkRewriter(NONCE)

const wrapUrl = (link: number, url: string) => `https://t.test/c/${link}?u=${encodeURIComponent(url)}`
const wrapAll = (html: string) => wrapLinks(numberLinks(html).html, wrapUrl)
const wrapTo = (link: number, url: string) => wrapUrl(link, url).replaceAll("'", '&#39;')

describe('a link is found', () => {
  test.each([
    ['<a href="https://a.test/x">', ['https://a.test/x']],
    ["<a href='https://a.test/x'>", ['https://a.test/x']],
    ['<a href=https://a.test/x>', ['https://a.test/x']],
    ['<a href=https://a.test/x/>', ['https://a.test/x/']],
    ['<A HREF="HTTPS://A.TEST/X">', ['HTTPS://A.TEST/X']],
    ['<area shape=rect href="http://a.test">', ['http://a.test']],
    ['<a\n  class="b"\n  href\n=\n"https://a.test"\n>', ['https://a.test']],
    ['<a href="  https://a.test \n">', ['https://a.test']],
    ['<a href="https://a.test/\n\tlong">', ['https://a.test/long']],
    ['<a href="https://a.test/?a=1&amp;b=2">', ['https://a.test/?a=1&b=2']],
    ['<a href="https://a.test/?a=1&b=2&copy=3">', ['https://a.test/?a=1&b=2&copy=3']],
    ['<a href="https&#58;//a.test/&#x41;&eacute;">', ['https://a.test/Aé']],
    ['<a href="https&colon;&sol;&sol;a.test/&check;">', ['https://a.test/✓']],
    ['<a href="//a.test/x">', ['https://a.test/x']],
    ['<a title="a > b" href="https://a.test">', ['https://a.test']],
    ['<a/href="https://a.test"/class=b>', ['https://a.test']],
    ['<a href="https://a.test"><a href="https://a.test">', ['https://a.test', 'https://a.test']],
    ['a < b <a href="https://a.test">', ['https://a.test']],
    ['<!-- <a href="https://no.test"> --><a href="https://a.test">', ['https://a.test']],
    ['<!--><a href="https://a.test">-->', ['https://a.test']],
    ['<!--- a --!><a href="https://a.test">', ['https://a.test']],
    ['<!doctype html><?xml?></3><a href="https://a.test">', ['https://a.test']],
    ['<style>a[href="https://no.test"]{} <a href="https://no.test"></style><a href="https://a.test">', ['https://a.test']],
    ['<title><a href="https://no.test"></title ><a href="https://a.test">', ['https://a.test']],
    ['<!--[if mso]><v:roundrect href="https://a.test"><![endif]-->', ['https://a.test']],
    [
      '<!--[if (gte mso 9)|(IE)]><a href="https://a.test"><![endif]--><!--[if !mso]><!--><a href="https://b.test"><!--<![endif]-->',
      ['https://a.test', 'https://b.test'],
    ],
  ])('%s', (html, links) => {
    expect(numberLinks(html).links).toEqual(links)
    expect(wrapAll(html)).toContain(wrapTo(0, links[0] as string))
  })

  test.each([
    ['<a href="{{ url }}">', '{{ url }}'],
    ['<a href="{{ review_url }}">', '{{ review_url }}'],
    ['<a href="{{ event.data.review_url }}">', '{{ event.data.review_url }}'],
    ['<a href="{{ user.data.view_url }}">', '{{ user.data.view_url }}'],
    ['<a href="{{ event["unsubscribe_url"] }}">', '{{ event["unsubscribe_url"] }}'],
    ['<a href="{{ preferences_urls[0] }}">', '{{ preferences_urls[0] }}'],
    ['<a href="{{ link | append: "#view_url" }}">', '{{ link | append: "#view_url" }}'],
    ['<a href="https://a.test/view_url/{{ id }}">', 'https://a.test/view_url/{{ id }}'],
    ['<a href="{% if x %}{{ review_url }}{% endif %}">', '{% if x %}{{ review_url }}{% endif %}'],
    ['<a href={{ url | default: "https://a.test" }}>', '{{ url | default: "https://a.test" }}'],
    ['<a href="https://a.test/{{ user.data["x>y"] }}?b={{ "}}" }}">', 'https://a.test/{{ user.data["x>y"] }}?b={{ "}}" }}'],
    ['<a {% if x > 1 %}class="a"{% endif %} href="https://a.test/{{ id }}">', 'https://a.test/{{ id }}'],
    ['<a href="http{% if x == \'"\' %}s{% endif %}://a.test">', "http{% if x == '\"' %}s{% endif %}://a.test"],
    ['{% comment %}<a href="{% endcomment %}<a href="https://a.test">', 'https://a.test'],
    ['{% raw %}{{{% endraw %}<a href="https://a.test">{{ name }}', 'https://a.test'],
    ['{{ "<a href=" }}<a href="https://a.test">', 'https://a.test'],
    ['{{ <a href="https://a.test">', 'https://a.test'],
    ['<a{% if x %} id=b{% endif %} href="https://a.test">', 'https://a.test'],
    ['Under <{{ x }} <a href="https://a.test">', 'https://a.test'],
    ['<style{% if x %} media=print{% endif %}><a href="https://no.test"></style><a href="https://a.test">', 'https://a.test'],
    [
      '{% comment %}<a href="{% raw %}{% endraw %}{% endcomment %}<a {% if x %}href="https://a.test/{{ x }}"{% endif %}>',
      'https://a.test/{{ x }}',
    ],
  ])('with Liquid: %s', (html, link) => expect(numberLinks(html).links).toEqual([link]))
})

test('a link with an address in each branch of a condition is two links', () => {
  expect(numberLinks('<a {% if x %} href="https://a.test" {% else %} href="https://b.test" {% endif %}>').links).toEqual([
    'https://a.test',
    'https://b.test',
  ])
})

describe('left alone is', () => {
  test.each([
    '<a href="mailto:kim@a.test">',
    '<a href="tel:+61">',
    '<a href="sms:+61?body={{ x }}">',
    '<a href="#top">',
    '<a href="#{{ x }}">',
    '<a href="javascript:alert(1)">',
    '<a href="data:text/html,x">',
    '<a href="">',
    '<a href>',
    '<a href="/relative">',
    '<a href="?q">',
    '<a href="page.html">',
    '<a href="https://">',
    '<a name="https://a.test">',
    '<abbr href="https://a.test">',
    '<img src="https://a.test">',
    '<link href="https://a.test">',
    '</a href="https://a.test">',
    '<a href="https://a.test"',
    '<a href="https://a.test>',
    '<a href="{{ unsubscribe_url }}">',
    '<a href="{{ preferences_url | append: "?x" }}">',
    '<a href="https://a.test/?back={{ view_url }}">',
    '<a href="{% if x %}{{ unsubscribe_url }}{% else %}https://a.test{% endif %}">',
    '<a href={{view_url}}>',
    '<script>"<a href=https://a.test>"</script>',
    '<textarea><a href="https://a.test"></textarea>',
  ])('%s', (html) => {
    expect(numberLinks(html)).toEqual({ html, links: [] })
  })

  test.each([
    ['<a class=b data-track="false" href="https://a.test">', '<a class=b href="https://a.test">'],
    ['<a href="https://a.test"  DATA-TRACK = FALSE>', '<a href="https://a.test">'],
    ["<a data-track='false'href=https://a.test>", '<a href=https://a.test>'],
  ])('a link that asks for it, and the asking is taken out: %s', (html, expected) =>
    expect(numberLinks(html)).toEqual({ html: expected, links: [] }),
  )
})

describe('after Liquid', () => {
  const liquid = new Liquid({ outputEscape: 'escape' })
  const filled = (template: string, scope: object, urlOf = wrapUrl) =>
    wrapLinks(liquid.parseAndRenderSync(numberLinks(template).html, scope), urlOf)

  test.each([
    ['what a variable holds', '<a href="{{ u }}">', { u: 'https://a.test/?a=1&b="2"' }, 'https://a.test/?a=1&b="2"'],
    ['in parts', '<a href="https://a.test/{{ u }}&amp;b=2">', { u: 'é?a=1' }, 'https://a.test/é?a=1&b=2'],
    ['of a branch', '<a href="{% if u %}https://a.test{% else %}#{% endif %}">', { u: 1 }, 'https://a.test'],
    ['without quotes', '<a href={{ u }}>', { u: 'https://a.test' }, 'https://a.test'],
  ])('the address is judged and wrapped whole: %s', (_, template, scope, url) =>
    expect(filled(template, scope)).toBe(template.replace(/href=("?).*?\1>$/s, `href=$1${wrapTo(0, url)}$1>`)),
  )

  test.each([
    ['a mail address', '<a href="{{ u }}">', { u: 'mailto:a@b.test' }, '<a href="mailto:a@b.test">'],
    ['nothing', '<a href="{{ u }}">', {}, '<a href="">'],
    ['something dangerous', '<a href="{{ u }}">', { u: 'javascript:alert(1)' }, '<a href="javascript:alert(1)">'],
    ['what breaks out of its quotes', '<a href="{{ u | raw }}">', { u: 'https://a.test" id="b' }, '<a href="https://a.test" id="b">'],
    ['what ends where there are no quotes', '<a href={{ u }}>', { u: 'https://a.test b' }, '<a href=https://a.test b>'],
    [
      'a tag that Liquid cuts in two',
      '{% if u %}<a href="https://a.test{% else %}<a href="https://b.test{% endif %}">',
      { u: 1 },
      '<a href="https://a.test">',
    ],
  ])('%s stays', (_, template, scope, html) => expect(filled(template, scope)).toBe(html))

  test('a link in a loop is one link, each time with its own address', () => {
    const html = filled('{% for p in list %}<a href="https://a.test/{{ p }}">{{ p }}</a>{% endfor %}', { list: ['x', 'y'] })
    expect(html).toBe(`<a href="${wrapTo(0, 'https://a.test/x')}">x</a><a href="${wrapTo(0, 'https://a.test/y')}">y</a>`)
  })

  test('whoever answers with the same address changes nothing', () =>
    expect(filled('<a href=" {{ u }}">', { u: 'https://ours.test/u/1?a&b' }, (_, url) => url)).toBe(
      '<a href=" https://ours.test/u/1?a&amp;b">',
    ))

  test('data that looks like a boundary is text', () => {
    const forged = `${'0'.repeat(24)}000002https://evil.test${'0'.repeat(24)}000009`
    expect(filled('<a href="https://a.test">{{ x }}</a>', { x: forged })).toBe(`<a href="${wrapTo(0, 'https://a.test')}">${forged}</a>`)
  })

  test('boundaries are gone even when a filter has cut a link in pieces', () => {
    const template =
      '{% capture x %}<a href="https://a.test/path">go</a>{% endcapture %}{{ x | slice: 0, 50 | raw }}|{{ x | strip_html | upcase }}'
    expect(filled(template, {})).not.toContain(NONCE)
  })
})

/** The addresses of links as a browser's tokeniser finds them. */
const linksByParser = (html: string): string[] =>
  tagsByParser(html)
    .filter(({ name }) => name === 'a' || name === 'area' || name.startsWith('v:'))
    .flatMap(({ attributes }) => attributes.filter(([name]) => name === 'href').map(([, value]) => value))

const isWeb = (href: string) => {
  const text = href.replace(/^[\0- ]+|[\0- ]+$/g, '').replace(/[\t\n\r]/g, '')
  return /^https?:/i.test(text.replace(/^\/\//, 'https://')) && URL.canParse(text, 'https://base.test')
}

describe('any soup', () => {
  test('is what it was, byte for byte, when nothing is wrapped', () => {
    fc.assert(
      fc.property(fc.oneof(liquidSoup, brokenLiquidSoup), (html) => {
        expect(wrapLinks(numberLinks(html).html, (_, url) => url)).toBe(html)
      }),
      { numRuns: 3000 },
    )
  })

  test('has the links that a browser finds, and they lead where they led', () => {
    let wrapped = 0
    fc.assert(
      fc.property(
        // A carriage return and a null are changed before a browser's tokeniser sees them.
        htmlSoup.filter((html) => !/[\r\0]/.test(html)),
        (html) => {
          const before = linksByParser(html)
          const after = linksByParser(wrapAll(html))
          expect(after).toHaveLength(before.length)
          for (const [at, href] of after.entries()) {
            const was = before[at] as string
            if (!href.startsWith('https://t.test/c/')) {
              expect(href).toBe(was)
              expect(isWeb(was) && URL.canParse(was.trim())).toBe(false)
            } else {
              wrapped++
              const destination = new URL(href).searchParams.get('u') as string
              expect(destination).toBe(
                was
                  .replace(/^[\0- ]+|[\0- ]+$/g, '')
                  .replace(/[\t\n\r]/g, '')
                  .replace(/^\/\//, 'https://'),
              )
            }
          }
        },
      ),
      { numRuns: 5000 },
    )
    expect(wrapped).toBeGreaterThan(1000)
  })

  test('costs its length only, however many things in it are never closed', () => {
    for (const part of [
      '<a href="',
      '{{ "',
      '{{',
      '{% raw %}',
      '<!--[if ',
      '<!--',
      '<a ',
      '<style>',
      '{% comment %}',
      '{% raw',
      "<a href='{{ x ",
    ]) {
      expect(
        ratioOf(numberLinks, (length) => part.repeat(length / part.length)),
        part,
      ).toBeLessThan(3)
    }
  })
})

test.each([
  ['<html><body><p>Hi</p></body></html>', '<p>Hi</p><img'],
  ['<HTML><BODY>Hi</BODY></HTML>', 'Hi<img'],
  ['Hi', 'Hi<img'],
  ['Hi<!-- </body> -->', '<!-- </body> --><img'],
])('the pixel stands at the end of the body: %s', (html, expected) => {
  const added = addPixel(html, 'https://t.test/o/1.gif?a&b')
  expect(added).toContain(expected)
  expect(added).toContain('src="https://t.test/o/1.gif?a&amp;b"')
})
