import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainTextOf } from './plain-text.ts'

describe('HTML becomes the text a person would have written', () => {
  test.each([
    ['<p>Hello Ana</p><p>See you</p>', 'Hello Ana\n\nSee you'],
    ['one<br>two<br/>three', 'one\ntwo\nthree'],
    ['one<br><br><br><br>two', 'one\n\ntwo'],
    ['  lots \n of\t space ', 'lots of space'],
    ['<div>a</div><div>b</div>', 'a\nb'],
    ['<h1>Title</h1>body', 'Title\n\nbody'],
    ['<ul><li>tea</li><li>buns</li></ul>', '- tea\n- buns'],
    ['<table><tr><td>Tea</td><td>2</td></tr><tr><td>Bun</td><td>1</td></tr></table>', 'Tea 2\nBun 1'],
    ['<b>bo</b>ld', 'bold'],
    ['above<hr>below', 'above\n---\nbelow'],
    ['<a href="https://example.com/x?a=1&amp;b=2">Shop now</a>.', 'Shop now (https://example.com/x?a=1&b=2).'],
    ['<a href="https://example.com">https://example.com</a>', 'https://example.com'],
    ['<a href="mailto:ana@example.com">ana@example.com</a>', 'ana@example.com'],
    ["<a href='tel:+61400000000'>Call</a>", 'Call (+61400000000)'],
    ['<a href="#top">Up</a> <a href="javascript:alert(1)">no</a>', 'Up no'],
    ['<a href="https://example.com"><img src="b.png" alt="Shop"></a>', 'Shop (https://example.com)'],
    ['<a href=https://example.com><img src="b.png"></a>', 'https://example.com'],
    ['Fish &amp; chips &#8364;5 &#x1F41F; &lt;b&gt; &bogus;', 'Fish & chips €5 🐟 <b> &bogus;'],
    ['a &lt; b && c < d', 'a < b && c < d'],
    ['<head><title>T</title><style>p { color: red }</style></head><body>Seen<script>x("</p>")</script></body>', 'Seen'],
    ['a<!-- <p>hidden</p> -->b', 'ab'],
    ['<!doctype html><!--[if mso]><p>Outlook</p><![endif]-->Hi', 'Hi'],
    ['<p title="a > b">quoted</p>', 'quoted'],
    ['', ''],
    ['seen<!-- never closed', 'seen'],
    ['seen<p class="never closed', 'seen'],
    ['<img alt="Carillon" src="x"> <img src="pixel.gif" alt="">bells', 'Carillon bells'],
    ['&#0;&#xD800;', '&#0;&#xD800;'],
  ])('%j', (html, text) => expect(plainTextOf(html)).toBe(text))

  test.each([
    ['<p>Hi {{ user.data.name | default: "<you>" }},</p><p>bye</p>', 'Hi {{ user.data.name | default: "<you>" }},\n\nbye'],
    ['<a href="{{ unsubscribe_url }}">Stop</a>', 'Stop ({{ unsubscribe_url }})'],
    ['<a href="https://example.com/{{ user.id }}?a=1&amp;b={{ x }}">Go</a>', 'Go (https://example.com/{{ user.id }}?a=1&b={{ x }})'],
    ['<a href="{{ u }}">{{ u }}</a>', '{{ u }}'],
    [
      '<a href="{% if a > b %}https://a{% else %}https://b{% endif %}">Go</a>',
      'Go ({% if a > b %}https://a{% else %}https://b{% endif %})',
    ],
    ['<a href="https://a" {% if x %}class="y"{% endif %}>Go</a>', '{% if x %}{% endif %}Go (https://a)'],
    ['<p>a</p>{% if x %}<p>b</p>{% endif %}<p>c</p>', 'a{% if x %}\n\nb{% endif %}\n\nc'],
    ['<p>Hi {% if n %}{{ n }}{% endif %}, you</p>', 'Hi{% if n %} {{ n }}{% endif %}, you'],
    ['<p>a</p><ul>{% for i in is %}<li>{{ i }}</li>{% endfor %}</ul>b', 'a\n{% for i in is %}\n- {{ i }}{% endfor %}\n\nb'],
    ['<!-- {% if x %} --><p>a</p><!-- {{ no }}{% endif %} -->', '{% if x %}a{% endif %}'],
    ['<head>{% assign a = 1 %}<style>{{ css }}{% echo css %}</style></head>{{ a }}', '{% assign a = 1 %}{{ a }}'],
    ['<td {% if x %}class="b"{% endif %}>a</td>', '{% if x %}{% endif %}a'],
    ['<img {% if x %}width="1"{% endif %} alt="{{ what }}">', '{{ what }}{% if x %}{% endif %}'],
    ['{% raw %}{{ x }}{% endraw %}', '{% raw %}{{ x }}{% endraw %}'],
    ['a{{ x }}b &amp; c', 'a{{ x }}b & c'],
    ['<a href="#{% if x %}a">x</a>{% endif %}{{ y }}', 'x{{ y }}'],
  ])('Liquid in %j stays what it was', (html, text) => expect(plainTextOf(html)).toBe(text))

  test('text without markup stays as it is, but for its white space', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[A-Za-z0-9.,é]{1,8}$/), { minLength: 1 }),
        (words) => plainTextOf(words.join(' \n')) === words.join(' '),
      ),
    )
  })

  test('no input throws, ends in white space or has two empty lines in a row', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('<', '>', '"', "'", '=', '/', '!--', '-->', 'a', 'p', ' href', '&#', ';', 'style', ' ', '\n', 'x')),
        (parts) => {
          const text = plainTextOf(parts.join(''))
          return !/\n\n\n|[ \t\r\n\f]$/.test(text)
        },
      ),
    )
  })

  test.each([
    ['unclosed comments', '<!-- '],
    ['unclosed tags', '<a href="'],
    ['attributes', '<a href'],
    ['references', '&#'],
  ])('a megabyte of %s is read once', (_, part) => {
    const html = part.repeat(Math.ceil(1_000_000 / part.length))
    const started = performance.now()
    plainTextOf(html)
    expect(performance.now() - started).toBeLessThan(2000)
  })
})
