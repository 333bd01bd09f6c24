import { encodeHTML } from 'entities'
import fc from 'fast-check'
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5'
import { describe, expect, test } from 'vitest'
import { parseTemplate } from '../liquid/liquid.ts'
import { withoutInvisible } from './invisible.ts'
import { plainTextOf } from './plain-text.ts'

describe('HTML becomes text', () => {
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
    ['&#0;&#xD800;', '\uFFFD\uFFFD'],
    ['&check; &Auml;&ouml&thinsp;x', '✓ Äö\u2009x'],
    ['a&shy;b&zwnj;c', 'abc'],
    ['<head><title>T</title><body>seen', 'seen'],
    ['<title><p>T</p></title><textarea><b>x</b></textarea>', '<b>x</b>'],
    ['<p>a<p>b<ul><li>c<li>d</ul>', 'a\n\nb\n\n- c\n- d'],
    ['<ol><li>one</li><li>two</li></ol>', '- one\n- two'],
    ['<ul><li><p>a</p><p>b</p></li><li>c</li></ul>', '- a\n\nb\n\n- c'],
    ['a<div></div>b<p> </p><div>c</div>', 'a\nb\nc'],
    ['Dear Ana<table><tr><td></td></tr><tr><td><p>a</p></td></tr></table>', 'Dear Ana\n\na'],
    ['<pre>a\n  b\n\n\n\nc</pre>', 'a\n  b\n\nc'],
    ['<a href="https://a">one <a href="https://b">two</a> three', 'one (https://a)two (https://b) three'],
    ['<a href="https://a"><b>a</b>', 'a (https://a)'],
    ['<a href="mailto:ana@example.com?subject=Order%207&amp;body=Hi">Write</a>', 'Write (ana@example.com)'],
    ['<a href="mailto:ana%2Bnews@example.com,bo@example.com?cc=cy@example.com">Write</a>', 'Write (ana+news@example.com,bo@example.com)'],
    ['<a href="mailto:ana@example.com?subject=Hi">ana@example.com</a>', 'ana@example.com'],
    ['<a href="mailto:?subject=Look">Share</a>', 'Share'],
    ['<a href="mailto:100%@example.com">Write</a>', 'Write (100%@example.com)'],
    ['<a href="tel:%2B61%20400">Call</a>', 'Call (+61 400)'],
    ['<a href="https://a">Click here </a>now', 'Click here (https://a) now'],
    ['<a href="https://a"><p>Go</p></a><p>x</p>', 'Go (https://a)\n\nx'],
    ['&copy &copy; &NotEqualTilde; &notin; &not; &#150; &#x80; &amp;copy;', '© © ≂̸ ∉ ¬ – € &copy;'],
    ['<img alt="caf&eacute; &amp;amp; &lt;b&gt;">', 'café &amp; <b>'],
    ['a&#173;b&#xAD;c&ZeroWidthSpace;d&#8203;e&NoBreak;f&#65279;g&#847;h', 'abcdefgh'],
    ['News&#847;&zwnj;&nbsp;&#847;&zwnj;&nbsp;<p>Hi', 'News\n\nHi'],
    ['&#847;&zwnj;&nbsp;&#8199;Hi&zwnj;', 'Hi'],
    ['👩&zwj;🚒 &#x1F469;&#x1F3FD;&#x200D;&#x1F680;', '👩\u200d🚒 👩🏽\u200d🚀'],
    ['می&zwnj;خواهم', 'می\u200cخواهم'],
    ['10&nbsp;000&nbsp;€<p>&nbsp;</p>x', '10\u00a0000\u00a0€\n\nx'],
    ['<div style="display:none">Hidden<div>too</div></div>Seen', 'Seen'],
    ['<span class=a style="color:red; DISPLAY : none">Hidden</span>Seen', 'Seen'],
    ['<div style="display:block">Seen</div>', 'Seen'],
    ['<a href="MAILTO:ana@example.com">Write</a> <a name="x">to</a>', 'Write (ana@example.com) to'],
    ['</div></p>a</x>b', 'ab'],
  ])('%j', (html, text) => expect(plainTextOf(html)).toBe(text))

  test.each([
    ['<p>Hi {{ user.data.name | default: "<you>" }},</p><p>bye</p>', 'Hi {{ user.data.name | default: "<you>" }},\n\nbye'],
    ['<a href="{{ unsubscribe_url }}">Stop</a>', 'Stop ({{ unsubscribe_url }})'],
    ['<a href="https://example.com/{{ user.id }}?a=1&amp;b={{ x }}">Go</a>', 'Go (https://example.com/{{ user.id }}?a=1&b={{ x }})'],
    ['<a href="{{ u }}">{{ u }}</a>', '{{ u }}'],
    ['<a href="mailto:{{ u }}?subject={{ s }}">{{ u }}</a>', '{{ u }}'],
    ['<a href="mailto:a@b.c{% if x %}?cc=d@e.f{% endif %}">Write</a>', 'Write (a@b.c{% if x %}{% endif %})'],
    ['{{ x }}&zwnj;ها', '{{ x }}\u200cها'],
    ['<div style="display:none">{{ no }}{% assign a = 1 %}</div>{{ a }}', '{% assign a = 1 %}{{ a }}'],
    ['<div style="{% if x %}display:none{% endif %}">a</div>', '{% if x %}{% endif %}a'],
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
    ['{% raw %}{{ x }}{% endraw %}', '{{ "{" }}{ x }}'],
    ['a{{ x }}b &amp; c', 'a{{ x }}b & c'],
    ['<a href="#{% if x %}a">x</a>{% endif %}{{ y }}', 'x{{ y }}'],
    ['<a href="#{% if x %}a">x</a>{% endif %}{% raw %}{{{% endraw %}', 'x{{ "{" }}{'],
    ['<a href="#{% raw %}">{{</a>{% endraw %}', '{{ "{" }}{'],
    ['<p>a</p>{% for i in is %}<p>{{ i }}</p>{% endfor %}<p>b</p>', 'a{% for i in is %}\n\n{{ i }}{% endfor %}\n\nb'],
    ['<p>a</p>{% for i in is %}{{ i }}<br>{% endfor %}b', 'a\n{% for i in is %}\n{{ i }}{% endfor %}\nb'],
    ['<p>a</p><p>{% echo x %}</p>{% cycle 1, 2 %}', 'a\n\n{% echo x %}\n\n{% cycle 1, 2 %}'],
    ['a{% comment %}<p>{{ b }}{% endcomment %}c', 'a{% comment %}<p>{{ b }}{% endcomment %}c'],
    ['<hr>{% if x %}<p>a</p>{% endif %}', '---{% if x %}\n\na{% endif %}'],
    [
      '<a {% if x %} href="https://a" {% else %} href="https://b" {% endif %}>Go</a>',
      '{% if x %}{% else %}{% endif %}Go ({% if x %}https://a{% else %}https://b{% endif %})',
    ],
    ['<li {% if x %}class="b"{% endif %}>{% if y %}a{% endif %}</li>', '- {% if x %}{% endif %}{% if y %}a{% endif %}'],
  ])('Liquid in %j is kept', (html, text) => expect(plainTextOf(html)).toBe(text))

  test('every named reference is the character that a browser reads', () => {
    const characters = Array.from({ length: 0x20000 }, (_, at) => at).filter((at) => at < 0xd800 || at > 0xdfff)
    const references = characters
      .map((at) => encodeHTML(String.fromCodePoint(at)))
      .filter((text) => /^&[a-z]/i.test(text))
      .map((text) => `x${text}x`)
    expect(references.length).toBeGreaterThan(1400)
    for (const reference of references) {
      const [text] = parseFragment(reference).childNodes as DefaultTreeAdapterTypes.TextNode[]
      expect([reference, plainTextOf(reference)]).toEqual([reference, withoutInvisible(text?.value ?? '').replace(/[\t\n]/g, ' ')])
    }
  })

  describe('a link in a condition', () => {
    const a = '<a href="https://a">'
    const b = '<a href="https://b">'
    test.each([
      [`{% if x %}${a}{% else %}${b}{% endif %}Go</a> now`, ['Go (https://a) now', 'Go (https://b) now']],
      [`{% if x %}${a}{% endif %}Go{% if x %}</a>{% endif %} now`, ['Go (https://a) now', 'Go now']],
      [`{% unless x %}${a}{% endunless %}Go</a>`, ['Go', 'Go (https://a)']],
      [`{% if x %}${a}Buy{% else %}${b}Sell{% endif %}</a>.`, ['Buy (https://a).', 'Sell (https://b).']],
      [`{% if x %}${a}Buy</a>{% else %}${b}Sell</a>{% endif %}.`, ['Buy (https://a).', 'Sell (https://b).']],
      [`{% if x %}${a}{% else %}${b}{% endif %}<img src="c.png"></a>`, ['https://a', 'https://b']],
      [`{% case x %}{% when true %}${a}{% when false %}${b}{% endcase %}Go</a>`, ['Go (https://a)', 'Go (https://b)']],
      [`{% if x %}{% if x %}${a}{% endif %}{% else %}${b}{% endif %}Go</a>`, ['Go (https://a)', 'Go (https://b)']],
      [`${a}Go{% if x %} now</a>{% else %} later</a>{% endif %}.`, ['Go now (https://a).', 'Go later (https://a).']],
      ['<a {% if x %}href="https://a"{% else %}href="https://b"{% endif %}>Go</a>', ['Go (https://a)', 'Go (https://b)']],
      ['<a {% if x %}href="https://a"{% endif %}>Go</a>', ['Go (https://a)', 'Go']],
      ['<a href="{% if x %}https://a{% else %}https://b{% endif %}">Go</a>', ['Go (https://a)', 'Go (https://b)']],
      ['<a href="{% if x %}https://a{% else %}#top{% endif %}">Go</a>', ['Go (https://a)', 'Go']],
      ['<a href="{% if x %}mailto:a@b.c?subject=d{% endif %}">Go</a>', ['Go (a@b.c)', 'Go']],
      ['<a href="https://a{% if x %}?b=1{% endif %}">Go</a>', ['Go (https://a?b=1)', 'Go (https://a)']],
      [`{% if x %}${a}{% endif %}{% if x %}${b}{% endif %}Go</a>`, ['https://aGo (https://b)', 'Go']],
    ])('%s', (html, expected) => {
      const { render } = parseTemplate(plainTextOf(html), { escape: false })
      expect([true, false].map((x) => render({ x }))).toEqual(expected)
    })
  })

  test('text without markup changes only in its white space', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[A-Za-z0-9.,é]{1,8}$/), { minLength: 1 }),
        (words) => plainTextOf(words.join(' \n')) === words.join(' '),
      ),
    )
  })

  test('no input throws, and no result ends in white space or has two empty lines in a row', () => {
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

  test('no text is lost at any depth', () => {
    for (const tag of ['div', 'p', 'li', 'table', 'a href="https://a"']) {
      const words = plainTextOf(`<${tag}>x `.repeat(20_000)).match(/x/g)
      expect(words).toHaveLength(20_000)
    }
    expect(plainTextOf(`${'<div>'.repeat(1000)}a<p>b</p>c`)).toBe('a\n\nb\n\nc')
  })
})
