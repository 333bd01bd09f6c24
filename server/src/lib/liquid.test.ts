import { describe, expect, test } from 'vitest'
import { hasLiquid, LiquidError, parseTemplate, renderTemplate } from './liquid.ts'

const render = (text: string, scope: Record<string, unknown> = {}, isHtml = false) =>
  renderTemplate(parseTemplate(text), scope, { escape: isHtml })

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return error
  }
}

describe('what is not Liquid is refused with its line', () => {
  test.each([
    ['Hello\n{{ user.name', 2],
    ['{% if user %}', 1],
    ['a\n\n{% endif %}', 3],
    ['{{ user.name | shout }}', 1],
    ['{% nonsense %}', 1],
    ['{% include "footer" %}', 1],
    ['{% render "footer" %}', 1],
    ['{% layout "base" %}', 1],
  ])('%j on line %i', (text, line) => {
    const error = thrownBy(() => parseTemplate(text))
    expect(error).toBeInstanceOf(LiquidError)
    expect(error).toMatchObject({ line, message: expect.not.stringContaining('line:') })
  })

  test('text beyond the longest length', () => {
    expect(() => parseTemplate('x'.repeat(1_000_001))).toThrow(LiquidError)
  })
})

describe('rendering', () => {
  test.each([
    ['Hi {{ user.name }}!', 'Hi Ana!'],
    ['{{ user.nobody.here }}', ''],
    ['{{ user.constructor }}{{ user.__proto__ }}{{ user.name.constructor }}', ''],
    ['{% for item in event.items %}{{ item }},{% endfor %}', 'tea,bun,'],
    ['{{ event.at | date: "%Y-%m-%d %H:%M" }}', '2026-11-20 23:30'],
  ])('%j gives %j', (text, expected) => {
    const scope = { user: { name: 'Ana' }, event: { items: ['tea', 'bun'], at: '2026-11-20T23:30:00Z' } }
    expect(render(text, scope)).toBe(expected)
  })

  test('output is escaped in HTML and left alone elsewhere, the template itself never', () => {
    const scope = { name: `<b>"O'Hara" & co</b>` }
    expect(render('<p>{{ name }}</p>', scope, true)).toBe('<p>&lt;b&gt;&#34;O&#39;Hara&#34; &amp; co&lt;/b&gt;</p>')
    expect(render('<p>{{ name }}</p>', scope, false)).toBe(`<p><b>"O'Hara" & co</b></p>`)
  })

  test.each([
    ['a loop without end', '{% for i in (1..100000000) %}x{% endfor %}'],
    ['loops in loops', '{% for i in (1..9999) %}{% for j in (1..9999) %}{{ j }}{% endfor %}{% endfor %}'],
    ['a string that doubles', '{% assign s = "xxxxxxxxxx" %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}{{ s }}'],
  ])('%s is stopped', (_, text) => {
    expect(() => render(text)).toThrow(LiquidError)
  })
})

test.each([
  ['plain', false],
  ['{ not }', false],
  ['{{ user.id }}', true],
  ['{% if a %}b{% endif %}', true],
])('hasLiquid(%j) is %s', (text, expected) => expect(hasLiquid(text)).toBe(expected))
