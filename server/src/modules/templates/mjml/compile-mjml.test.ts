import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { liquidTags, parseTemplate } from '../../../lib/liquid/liquid.ts'
import { compileMjml } from './compile-mjml.ts'

const body = (content: string, head = '') => `<mjml>\n<mj-head>${head}</mj-head>\n<mj-body>${content}</mj-body>\n</mjml>`
const section = (content: string) => `<mj-section><mj-column>${content}</mj-column></mj-section>`

async function htmlOf(mjml: string): Promise<string> {
  const made = await compileMjml(mjml)
  if ('faults' in made) throw new Error(made.faults.map(({ message }) => message).join(' '))
  return made.html
}

const rendered = async (mjml: string, scope: Record<string, unknown> = {}) =>
  parseTemplate(await htmlOf(mjml), { escape: true }).render(scope)

const refusals = async (mjml: string) => {
  const made = await compileMjml(mjml)
  return 'faults' in made ? made.faults.map(({ message }) => message) : []
}

describe('compiled HTML', () => {
  test('keeps any Liquid in text and attributes', async () => {
    const mjml = body(
      section(
        `<mj-text color="{{ user.data.colour }}" css-class="{{ user.data.a }} b">{% if user.data.age > 18 and user.data.name != "<b>" %}Hi {{ user.data.name | default: "you & me" }}{% endif %}</mj-text>
         <mj-button href="{{ event.data.url | append: "?a=1&b=2" }}" padding="10px">{{ event.data.what }}</mj-button>
         <mj-image src='{{ event.data.image }}' alt="{% if a %}x{% else %}y{% endif %}" />
         <mj-table>{% for item in event.data.items %}<tr><td>{{ item }}</td></tr>{% endfor %}</mj-table>`,
      ),
      '<mj-title>{{ project.name }}</mj-title><mj-preview>{{ event.data.what }}</mj-preview><mj-style>.a { color: {{ user.data.colour }} }</mj-style>',
    )
    const html = await htmlOf(mjml)
    for (const { text } of liquidTags(mjml)) expect(html).toContain(text)
    const scope = {
      user: { data: { age: 20, name: 'Kim', colour: 'red', a: 'k' } },
      event: { data: { url: 'https://example.com', what: 'Go', image: 'https://example.com/a.png', items: ['tea', 'bun'] } },
      project: { name: 'Shop' },
    }
    const out = parseTemplate(html, { escape: true }).render(scope)
    expect(out).toContain('Hi Kim')
    expect(out).toContain('href="https://example.com?a=1&amp;b=2"')
    expect(out).toContain('<tr><td>tea</td></tr><tr><td>bun</td></tr>')
    expect(out).toContain('color:red')
    expect(out).toContain('<title>Shop</title>')
  })

  test('keeps conditions and loops around elements', async () => {
    const mjml = body(`
      {% if vip %}${section('<mj-text>For you</mj-text>')}{% else %}${section('<mj-text>For all</mj-text>')}{% endif %}
      <mj-section>{% for item in items %}<mj-column>{% unless item.hidden %}<mj-text>{{ item.name }}</mj-text>{% endunless %}</mj-column>{% endfor %}</mj-section>`)
    const items = [{ name: 'tea' }, { name: 'cake', hidden: true }, { name: 'jam' }]
    const vip = await rendered(mjml, { vip: true, items })
    expect(vip).toContain('For you')
    expect(vip).not.toMatch(/For all|cake/)
    expect(vip).toMatch(/tea[\s\S]*jam/)
    const others = await rendered(mjml, { items: [] })
    expect(others).toContain('For all')
    expect(others).not.toMatch(/For you|tea/)
    for (const out of [vip, others]) expect(out.match(/<table/g)?.length).toBe(out.match(/<\/table/g)?.length)
  })

  test('has inlined styles', async () => {
    const html = await htmlOf(
      body(
        `{% if a %}${section('<mj-text css-class="x">{{ b }}</mj-text>')}{% endif %}`,
        '<mj-style inline="inline">.x { color: {{ c }} }</mj-style>',
      ),
    )
    expect(html).toMatch(/\{% if a %\}[\s\S]*class="x" style="color: \{\{ c \}\}[\s\S]*\{\{ b \}\}[\s\S]*\{% endif %\}/)
  })

  test('has no web fonts, no indentation and no traces of the wrapping', async () => {
    const html = await htmlOf(body(`{% if a %}${section('<mj-text font-family="Lato, Roboto">x</mj-text>')}{% endif %}`))
    expect(html).not.toMatch(/fonts\.googleapis|@import|<mj-|\n\s/)
    expect(await htmlOf(body(section('<mj-text><pre>a\n  b</pre></mj-text>')))).toContain('<pre>a\n  b</pre>')
  })

  test('can use variables in the body that the head assigns', async () => {
    expect(await rendered(body(section('<mj-text>{{ greeting }}</mj-text>'), '{% assign greeting = "Hello" %}'))).toContain('Hello')
  })

  test('keeps Liquid comments unchanged', async () => {
    const comment = '{% comment %}<mj-nonsense>{{ a }}</mj-nonsense>{% endcomment %}'
    expect(await htmlOf(body(`${comment}${section('<mj-text>x</mj-text>')}`))).toContain(comment)
  })

  test('has the attributes of `mj-html-attributes`, with their Liquid', async () => {
    const selector = (path: string, name: string, value: string) =>
      `<mj-selector path="${path}"><mj-html-attribute name="${name}">${value}</mj-html-attribute></mj-selector>`
    const html = await htmlOf(
      body(
        `{% if vip %}${section('<mj-text css-class="x">Hi {{ user.data.name | default: "<b>" }}</mj-text>')}{% endif %}${section('<mj-button href="https://example.com/?a={{ x }}&amp;b=2">Go</mj-button>')}`,
        `<mj-html-attributes>${selector('.x div', 'data-id', '42')}\n${selector('.x div', 'data-user', '{{ user.id }}')}</mj-html-attributes>`,
      ),
    )
    expect(html).toMatch(
      /<div[^>]* data-id="42"[^>]* data-user="\{\{ user.id \}\}"[^>]*>Hi \{\{ user.data.name \| default: "<b>" \}\}<\/div>/,
    )
    expect(html).toContain('<a href="https://example.com/?a={{ x }}&amp;b=2"')
    expect(html).toMatch(/<!--\[if mso \| IE\]>/)
  })

  test('keeps Liquid in HTML comments', async () => {
    expect(await htmlOf(body(`<!-- {{ a }} -->${section('<mj-text>x</mj-text>')}`))).toContain('<!-- {{ a }} -->')
  })
})

describe('MJML is refused, with the line, for', () => {
  test.each([
    ['an unknown element', body('\n<mj-sektion></mj-sektion>'), /line 4: Element mj-sektion doesn't exist/],
    ['an element in the wrong place', body('\n\n<mj-text>x</mj-text>'), /line 5: mj-text cannot be used inside mj-body/],
    ['an unknown attribute', body(section('\n<mj-text colour="red">x</mj-text>')), /line 4: Attribute colour is illegal/],
    ['an invalid value', body(section('\n<mj-text font-size="big">x</mj-text>')), /line 4: Attribute font-size has invalid value: big/],
    [
      'a mistake after a Liquid tag of several lines',
      body(section('<mj-text>{% if a\n  and b\n %}x{% endif %}</mj-text>\n<mj-text colour="red" />')),
      /line 6: Attribute colour/,
    ],
    [
      'a condition in a tag',
      body(section('<mj-text {% if a %}color="red"{% endif %}>x</mj-text>')),
      /line 3: Attributes \{% if a %\}color, \{% endif %\} are illegal/,
    ],
    [
      'Liquid as a size that MJML computes with',
      body('<mj-section><mj-column width="{{ w }}"><mj-text>x</mj-text></mj-column></mj-section>'),
      /line 3: Attribute width has invalid value: \{\{ w \}\}/,
    ],
    ['an included file', body('\n<mj-include path="/etc/passwd" />'), /line 4: `mj-include` is not supported/],
    ['text that would not be displayed', body('\nHello <mj-section></mj-section>'), /the text `Hello` is between elements/],
    [
      'Liquid in an unused class',
      body(section('<mj-text>x</mj-text>'), '<mj-attributes><mj-class name="a" color="{{ c }}" /></mj-attributes>'),
      /tag `\{\{ c \}\}` on line 2/,
    ],
    [
      'a condition around elements of the head',
      body(section('<mj-text>x</mj-text>'), '\n{% if a %}<mj-style>p {}</mj-style>{% endif %}'),
      /tag `\{% if a %\}` on line 3/,
    ],
    [
      'Liquid where `mj-raw` is not allowed',
      body(section('<mj-carousel>\n{% if a %}<mj-carousel-image src="a" />{% endif %}</mj-carousel>')),
      /tag `\{% if a %\}` on line 4/,
    ],
    [
      'Liquid in an attribute that does not appear in the HTML',
      body(section('\n<mj-spacer mj-class="{{ a }}" />')),
      /tag `\{\{ a \}\}` on line 4/,
    ],
    ['HTML that is too long', body(section('<mj-text>x</mj-text>'.repeat(2500))), /has \d+ characters; it may have at most 500000/],
    ['a missing body', '<mjml></mjml>', /line 1: /],
    ['text without MJML', 'just words', /line 1: /],
    ['HTML', '<p>x</p>', /line 1: /],
    ['many elements', `<mjml><mj-body>${'<mj-text>'.repeat(5000)}`, /has 5002 elements; it may have at most 5000/],
    [
      'many rules for many elements',
      body('<mj-text>x</mj-text>'.repeat(400), `<mj-style inline="inline">${'.a,.b{color:red}'.repeat(130)}</mj-style>`),
      /has 404 elements and 260 rules/,
    ],
    [
      'many attributes for many elements',
      body('<mj-text>x</mj-text>'.repeat(200), `<mj-attributes>${'<mj-class name="a" color="red" />'.repeat(600)}</mj-attributes>`),
      /has 804 elements and 600 rules/,
    ],
    ['deep nesting', `<mjml>${'<mj-body>'.repeat(2000)}`, /nested too deeply/],
  ])('%s', async (_, mjml, expected) => expect((await refusals(mjml)).join('\n')).toMatch(expected))

  test('a condition that ends in another element', async () => {
    const mjml = body(`{% if a %}${section('<mj-text>x</mj-text>')}`, '<mj-title>{% endif %}</mj-title>')
    expect(await refusals(mjml)).not.toEqual([])
  })
})

/** Random documents with Liquid in all positions. */
const output = fc
  .constantFrom('{{ a }}', '{{ user.data.b | default: "x > y" }}', "{{ 'it''s' }}", '{{- c -}}', '{{ d | append: "<p>" }}')
  .filter((text) => !text.includes("''"))
const around = (inner: fc.Arbitrary<string>) =>
  fc.oneof(
    { weight: 3, arbitrary: inner },
    { weight: 1, arbitrary: inner.map((text) => `{% if a > "b" %}${text}{% endif %}`) },
    { weight: 1, arbitrary: inner.map((text) => `{%- for i in items -%}\n${text}{% endfor %}`) },
    { weight: 1, arbitrary: fc.tuple(inner, inner).map(([one, other]) => `{% unless x %}${one}{% else %}${other}{% endunless %}`) },
    { weight: 1, arbitrary: fc.tuple(output, inner).map(([tag, text]) => `${tag}${text}`) },
  )
const words = around(fc.oneof(output, fc.constantFrom('Hello', '<b>x</b>', 'a &amp; b', '<br>', '<!-- {{ hidden }} -->', '')))
const values: Record<string, fc.Arbitrary<string>> = {
  colour: fc.oneof(output, fc.constantFrom('red', '#fff', '{% if a %}red{% else %}blue{% endif %}')),
  text: fc.oneof(output, fc.constantFrom('x', 'https://example.com/?a=1&amp;b={{ c }}', '{% if a %}b{% endif %}')),
  size: fc.oneof({ weight: 6, arbitrary: fc.constantFrom('10px', '20px') }, { weight: 1, arbitrary: output.map((tag) => `${tag}px`) }),
  name: fc.constantFrom('facebook', 'web'),
}
/** Such as `color:colour`. */
const attributes = (...wanted: string[]) =>
  fc
    .tuple(
      ...wanted.map((one) => {
        const [name, kind] = one.split(':') as [string, string]
        const value = values[kind] as fc.Arbitrary<string>
        return fc
          .option(value, { nil: null })
          .map((text) => (text === null ? '' : ` ${name}=${text.includes('"') ? `'${text}'` : `"${text}"`}`))
      }),
    )
    .map((all) => all.join(''))
const element = (name: string, attribute: fc.Arbitrary<string>, content: fc.Arbitrary<string>) =>
  fc.tuple(attribute, content).map(([attributes, content]) => `<${name}${attributes}>${content}</${name}>`)
const many = (inner: fc.Arbitrary<string>) => fc.array(around(inner), { maxLength: 3 }).map((all) => all.join('\n'))

const leaf = fc.oneof(
  element('mj-text', attributes('color:colour', 'font-size:size', 'css-class:text', 'padding:size'), words),
  element('mj-button', attributes('href:text', 'background-color:colour', 'width:size', 'title:text'), words),
  element('mj-image', attributes('src:text', 'href:text', 'alt:text', 'width:size'), fc.constant('')),
  element('mj-table', attributes('color:colour', 'width:size'), words),
  element('mj-raw', fc.constant(''), words),
  element(
    'mj-social',
    attributes('color:colour'),
    many(element('mj-social-element', attributes('name:name', 'href:text', 'src:text'), words)),
  ),
  element('mj-navbar', attributes('base-url:text'), many(element('mj-navbar-link', attributes('href:text', 'color:colour'), words))),
  element('mj-carousel', fc.constant(''), many(fc.constant('<mj-carousel-image src="a" />'))),
  element(
    'mj-accordion',
    fc.constant(''),
    many(
      fc
        .tuple(words, words)
        .map(
          ([one, other]) =>
            `<mj-accordion-element><mj-accordion-title>${one}</mj-accordion-title><mj-accordion-text>${other}</mj-accordion-text></mj-accordion-element>`,
        ),
    ),
  ),
  fc.constantFrom('<mj-divider />', '<mj-spacer height="20px" />', '<!-- {{ remark }} -->'),
)
const column = element('mj-column', attributes('width:size', 'background-color:colour', 'css-class:text'), many(leaf))
const row = element(
  'mj-section',
  attributes('background-url:text', 'padding:size', 'css-class:text'),
  many(fc.oneof(column, element('mj-group', attributes('width:size'), many(column)))),
)
const block = fc.oneof(
  { weight: 3, arbitrary: row },
  { weight: 1, arbitrary: element('mj-wrapper', attributes('background-color:colour'), many(row)) },
  { weight: 1, arbitrary: element('mj-hero', attributes('background-url:text', 'height:size'), many(leaf)) },
)
const headed = fc.oneof(
  element('mj-title', fc.constant(''), words),
  element('mj-preview', fc.constant(''), words),
  element(
    'mj-style',
    fc.constantFrom('', ' inline="inline"'),
    fc.oneof(
      words,
      output.map((tag) => `.x { color: ${tag} }`),
    ),
  ),
  attributes('color:colour', 'padding:size').map(
    (all) => `<mj-attributes><mj-text${all} /><mj-all${all} /><mj-class name="x"${all} /></mj-attributes>`,
  ),
  output.map(
    (tag) =>
      `<mj-html-attributes><mj-selector path="div"><mj-html-attribute name="data-x">${tag}</mj-html-attribute></mj-selector></mj-html-attributes>`,
  ),
  fc.constantFrom('{% assign z = 1 %}', '{{ a }}'),
)
const document = fc
  .tuple(many(headed), many(block), attributes('lang:text'))
  .map(([head, content, all]) => `<mjml${all}>\n<mj-head>${head}</mj-head>\n<mj-body>\n${content}\n</mj-body></mjml>`)

const counted = (texts: string[]) => {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

test('a document keeps all its Liquid, or is refused', async () => {
  let compiled = 0
  await fc.assert(
    fc.asyncProperty(document, async (mjml) => {
      const before = liquidTags(mjml)
      const made = await compileMjml(mjml)
      if ('faults' in made) {
        expect(made.faults.length).toBeGreaterThan(0)
        for (const { param, message } of made.faults)
          expect([param, message]).toEqual(['mjml', expect.stringMatching(/ line \d+|invalid after compiling/)])
        return
      }
      compiled++
      const after = counted(liquidTags(made.html).map(({ text }) => text))
      for (const [text, times] of counted(before.map(({ text }) => text))) expect(after.get(text) ?? 0, text).toBeGreaterThanOrEqual(times)
      expect(made.html).not.toMatch(/<mj-|_lq\d+tag|NaN/)
      parseTemplate(made.html, { escape: true })
    }),
    { numRuns: 60 },
  )
  // The property means nothing if too few documents compile.
  expect(compiled).toBeGreaterThan(5)
}, 60_000)
