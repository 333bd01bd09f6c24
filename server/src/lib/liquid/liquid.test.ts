import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ratioOf } from '../../../test/cpu-time.ts'
import { RenderBudget } from './budget.ts'
import { countTags, hasLiquid, LiquidError, liquidTags, OverBudget, parseTemplate } from './liquid.ts'

const render = (text: string, scope: Record<string, unknown> = {}, isHtml = false) => parseTemplate(text, { escape: isHtml }).render(scope)

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return error
  }
}

describe('invalid Liquid is refused with its line', () => {
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
    const error = thrownBy(() => parseTemplate(text, { escape: false }))
    expect(error).toBeInstanceOf(LiquidError)
    expect(error).toMatchObject({ line, message: expect.not.stringContaining('line:') })
  })

  test.each(['{% if a %}', '{% for i in a %}', '{% liquid\n'])('%j nested 20,000 deep', (tag) => {
    const text = tag.startsWith('{% liquid') ? `${tag}${'if a\n'.repeat(20_000)}${'endif\n'.repeat(20_000)}%}` : tag.repeat(20_000)
    expect(thrownBy(() => parseTemplate(text, { escape: false }))).toBeInstanceOf(LiquidError)
  })

  test('counting `liquid` tags that are closed late takes linear time', () => {
    const of = (length: number) => `${'{% liquid '.repeat(length / 50)}${' '.repeat(length * 0.8)}%}`
    expect(countTags(of(500))).toBe(10)
    expect(ratioOf(countTags, of)).toBeLessThan(3)
  })

  test('text longer than the limit', () => {
    expect(() => parseTemplate('x'.repeat(1_000_001), { escape: false })).toThrow(LiquidError)
  })
})

describe('rendering', () => {
  test.each([
    ['Hi {{ user.name }}!', 'Hi Ana!'],
    ['{{ user.nobody.here }}', ''],
    ['{{ user.constructor }}{{ user.__proto__ }}{{ user.name.constructor }}', ''],
    ['{% for item in event.items %}{{ item }},{% endfor %}', 'tea,bun,'],
    ['{{ event.at | date: "%Y-%m-%d %H:%M" }}', '2026-11-20 23:30'],
  ])('%j renders as %j', (text, expected) => {
    const scope = { user: { name: 'Ana' }, event: { items: ['tea', 'bun'], at: '2026-11-20T23:30:00Z' } }
    expect(render(text, scope)).toBe(expected)
  })

  test.each([
    ['{{ user.data.a\\.b }} {{ user.data["a.b"] }} {{ user.data.a.b }}', 'dot dot nested'],
    ['{{ user.data.c\\\\ }}{{ user.data.\\.d\\.e.f }}', 'slashdeep'],
    ['{{ "x" | append: user.data.a\\.b | prepend: user.data.a\\.b }}', 'dotxdot'],
    ['{% if user.data.a\\.b == "dot" and user.data.a\\.b contains "o" %}yes{% endif %}', 'yes'],
    ['{% case user.data.a\\.b %}{% when user.data.a\\.b %}yes{% endcase %}', 'yes'],
    ['{% for i in user.data.items\\.all limit: user.data.n\\.max %}{{ i.s\\.k }}{% endfor %}', '21'],
    ['{% assign x = user.data.a\\.b | upcase %}{{ x }}{% echo user.data.a\\.b %}', 'DOTdot'],
    ['{% liquid\n assign x = user.data.a\\.b\n echo x %}', 'dot'],
    ['{{ user.data.items\\.all | sort: "s\\\\.k" | map: "s\\\\.k" | join }}', '1 2 3'],
    ['{{ user.data.items\\.all | where: "s\\\\.k", 2 | size }}{{ user.data.items\\.all | sum: "s\\\\.k" }}', '16'],
    ['{% for i in (1..user.data.n\\.max) %}{{ i }}{% endfor %}', '12'],
  ])('a dot in a key is escaped: %j renders as %j', (text, expected) => {
    const items = [2, 1, 3].map((k) => ({ 's.k': k }))
    const data = { 'a.b': 'dot', a: { b: 'nested' }, 'c\\': 'slash', '.d.e': { f: 'deep' }, 'items.all': items, 'n.max': 2 }
    expect(render(text, { user: { data } })).toBe(expected)
  })

  test.each(['{{ user.data.a\\x }}', '{{ 1\\.5 }}', '{{ user.data.a \\.b }}', '{{ \\.a }}'])('%j is refused', (text) => {
    expect(thrownBy(() => parseTemplate(text, { escape: false }))).toBeInstanceOf(LiquidError)
  })

  test('output is escaped in HTML only, and the template itself never', () => {
    const scope = { name: `<b>"O'Hara" & co</b>` }
    expect(render('<p>{{ name }}</p>', scope, true)).toBe('<p>&lt;b&gt;&#34;O&#39;Hara&#34; &amp; co&lt;/b&gt;</p>')
    expect(render('<p>{{ name }}</p>', scope, false)).toBe(`<p><b>"O'Hara" & co</b></p>`)
  })

  test.each([
    ['a very long loop', '{% for i in (1..100000000) %}x{% endfor %}'],
    ['a loop within a loop', '{% for i in (1..9999) %}{% for j in (1..9999) %}{{ j }}{% endfor %}{% endfor %}'],
    ['a string that doubles', '{% assign s = "xxxxxxxxxx" %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}{{ s }}'],
  ])('%s is stopped', (_, text) => {
    expect(() => render(text)).toThrow(LiquidError)
  })
})

describe('a number that is not finite fails the render', () => {
  const scope = { event: { stock: 0, price: 5, items: [{ price: 3 }, { price: '1e400' }], word: 'Infinity', name: 'NaN' } }

  test.each([
    ['{{ event.price | divided_by: event.stock }}', 'the result of `divided_by`'],
    ['{{ 0 | divided_by: 0 }}', 'the result of `divided_by`'],
    ['{{ event.price | modulo: 0 }}', 'the result of `modulo`'],
    ['{{ event.word | plus: 1 }}', 'the result of `plus`'],
    ['{{ event.word | minus: event.word }}', 'the result of `minus`'],
    ['{{ event.items | sum: "price" }}', 'a value'],
    ['{% assign all = event.items | sum: "price" | append: "%" %}', 'a value'],
    ['{% assign share = 1 | divided_by: 0 %}', 'the result of `divided_by`'],
    ['{% assign share = 1 | divided_by: 0 | append: "%" %}', 'the result of `divided_by`'],
    [`{{ ${'9'.repeat(400)} }}`, 'a value'],
  ])('%s', (text, of) => {
    for (const isHtml of [true, false]) {
      const error = thrownBy(() => render(`\n${text}`, scope, isHtml))
      expect(error).toBeInstanceOf(LiquidError)
      expect(error).toMatchObject({ line: 2, message: `${of} is not a finite number, for example after a division by zero` })
    }
  })

  test.each([
    ['{{ event.name }} {{ event.word }}', 'NaN Infinity'],
    ['{{ event.missing | times: 2 }}', '0'],
    ['{{ event.price | divided_by: 2 }}', '2.5'],
  ])('and %s does not', (text, expected) => {
    for (const isHtml of [true, false]) expect(render(text, scope, isHtml)).toBe(expected)
  })
})

test.each([
  ['plain', false],
  ['{ not }', false],
  ['{{ user.id }}', true],
  ['{% if a %}b{% endif %}', true],
])('hasLiquid(%j) is %s', (text, expected) => expect(hasLiquid(text)).toBe(expected))

describe('amounts and times', () => {
  const scope = {
    user: { locale: 'de-DE', timezone: 'Australia/Sydney' },
    project: { locale: 'en-AU', timezone: 'Europe/Paris' },
    event: { total: 1234.5, text: '99', at: '2026-11-20T23:30:00Z', winter: '2026-07-20T23:30:00Z', seconds: 1_795_217_400 },
  }
  test.each([
    ['{{ event.total | money: "AUD" }}', '1.234,50\u00A0AU$'],
    ['{{ event.text | money: "eur" }}', '99,00\u00A0€'],
    ['{{ event.total | money: "coins" }}', '1234.5 coins'],
    ['{{ event.nothing | money: "AUD" }}', ''],
    ['{{ "free" | money: "AUD" }}', 'free'],
    ['{{ event.at | in_zone | date: "%d %H:%M %z" }}', '21 10:30 +1100'],
    ['{{ event.winter | in_zone | date: "%d %H:%M %z" }}', '21 09:30 +1000'],
    ['{{ event.at | in_zone: "America/New_York" | date: "%d %H:%M %z" }}', '20 18:30 -0500'],
    ['{{ event.at | in_zone: "Nowhere" | date: "%H:%M" }}', '10:30'],
    ['{{ event.seconds | in_zone | date: "%H:%M" }}', '10:30'],
    ['{{ event.at | in_zone }}', '2026-11-21 10:30'],
    ['{{ event.at | in_zone: "UTC" | in_zone | date: "%H:%M" }}', '10:30'],
    ['{{ event.nothing | in_zone | date: "%H:%M" }}', ''],
    ['{{ "soon" | in_zone | date: "%H:%M" }}', 'soon'],
    ['{{ "1795217400" | in_zone | date: "%H:%M" }}', '10:30'],
    ['{{ "now" | in_zone: "Asia/Tokyo" | date: "%z" }}', '+0900'],
    ['{{ "today" | in_zone: "Asia/Tokyo" | date: "%z" }}', '+0900'],
    ['{{ event.at | in_zone | date_to_xmlschema }}', '2026-11-21T10:30:00+11:00'],
    ['{{ event.at | in_zone: "America/New_York" | date_to_rfc822 }}', 'Fri, 20 Nov 2026 18:30:00 -0500'],
    ['{{ event.at | in_zone | date_to_string: "ordinal", "US" }}', 'Nov 21st, 2026'],
    ['{{ event.at | in_zone | date_to_long_string }}', '21 November 2026'],
    ['{{ event.at | date: "%H:%M" }}', '23:30'],
    ['{{ event.at | date: "%H:%M", "Asia/Tokyo" }}', '08:30'],
  ])('%s', (text, expected) => expect(render(text, scope)).toBe(expected))

  describe('without an offset, times are in UTC, whatever the zone of the server', () => {
    const own = process.env.TZ
    beforeAll(() => {
      process.env.TZ = 'Australia/Sydney'
    })
    afterAll(() => {
      if (own === undefined) delete process.env.TZ
      else process.env.TZ = own
    })

    test.each([
      ['{{ at | date: "%d %H:%M" }}', '2026-11-20T09:30', '20 09:30'],
      ['{{ at | date: "%d %H:%M" }}', '2026-11-20 09:30:15.5', '20 09:30'],
      ['{{ at | date: "%H:%M", "Asia/Tokyo" }}', '2026-11-20T09:30', '18:30'],
      ['{{ at | date: "%H:%M" }}', '2026-11-20T09:30+01:00', '08:30'],
      ['{{ at | date: "%H:%M" }}', '2026-11-20T99:30', '2026-11-20T99:30'],
      ['{{ at | date_to_xmlschema }}', '2026-11-20T09:30:00', '2026-11-20T09:30:00+00:00'],
      ['{{ at | date_to_rfc822 }}', '2026-11-20T09:30:00', 'Fri, 20 Nov 2026 09:30:00 +0000'],
      ['{{ at | date_to_string: "ordinal" }}', '2026-11-20T00:30', '20th Nov 2026'],
      ['{{ at | date_to_long_string }}', '2026-11-20 00:30', '20 November 2026'],
      ['{{ at | in_zone: "Europe/Berlin" | date: "%H:%M" }}', '2026-11-20T09:30:00', '10:30'],
      ['{{ at | in_zone: "Europe/Berlin" | date_to_string }}', '2026-11-20T23:30:00', '21 Nov 2026'],
      ['{{ at | in_zone: "Europe/Berlin" | date_to_rfc822 }}', '2026-11-20T23:30:15', 'Sat, 21 Nov 2026 00:30:15 +0100'],
    ])('%s of %s', (text, at, expected) => expect(render(text, { at })).toBe(expected))
  })

  test('a user without locale or zone gets those of the project, or else English and UTC', () => {
    const text = '{{ 5 | money: "AUD" }} {{ "2026-11-20T23:30:00Z" | in_zone | date: "%H:%M" }}'
    expect(render(text, { project: scope.project, user: { locale: 'not a locale', timezone: 7 } })).toBe('$5.00 00:30')
    expect(render(text)).toBe('A$5.00 23:30')
  })
})

describe('liquidTags', () => {
  test('tags are found with their positions, without those in raw text', () => {
    const text = 'a {{ x | default: "}}" }}\n{%- if a > b -%}\n{% raw %}{{ no }}{% endraw %}{% endif %}'
    const found = liquidTags(text)
    expect(found.map(({ name, line }) => [name, line])).toEqual([
      [null, 1],
      ['if', 2],
      ['raw', 3],
      ['endraw', 3],
      ['endif', 3],
    ])
    for (const tag of found) expect(text.slice(tag.begin, tag.end)).toBe(tag.text)
    expect(liquidTags('plain { text }')).toEqual([])
  })
})

describe('the budget of a message', () => {
  const loops = '{% for i in (1..30000) %}{{ i }}{% endfor %}'

  test.each([
    ['100,000 steps', '{% for i in (1..120000) %}{{ i }}{% endfor %}'],
    ['100,000 steps', `{% for i in (1..20000) %}{{ i${' | plus: 1'.repeat(30)} }}{% endfor %}`],
    ['100,000 steps', '{% assign a = (1..2000) | sort %}{% for i in a %}{% assign b = a | where_exp: "x", "x > 1" %}{% endfor %}'],
    ['100,000 steps', '{% assign a = (1..2000) | sort %}{% for i in a %}{% assign b = a | find_exp: "x", "x == 0" %}{% endfor %}'],
    ['characters and items on the way', '{% for i in (1..100) %}{% for j in (1..999999) %}{% break %}{% endfor %}{% endfor %}'],
    ['2,000,000 characters', `{% for i in (1..30000) %}${'x'.repeat(100)}{% endfor %}`],
    ['2,000,000 characters', '{% assign a = "x" | split: "" %}{% for i in (1..40) %}{% assign a = a | push: a %}{% endfor %}{{ a }}'],
  ])('%s', (problem, text) => {
    expect(() => render(text)).toThrow(OverBudget)
    expect(() => render(text)).toThrow(problem)
  })

  test('is shared by its strings', () => {
    const template = parseTemplate(loops, { escape: false })
    const budget = new RenderBudget()
    template.render({}, budget)
    template.render({}, budget)
    template.render({}, budget)
    expect(() => template.render({}, budget)).toThrow(OverBudget)
    expect(template.render({})).toHaveLength(138_894)
  })

  test('is exceeded at the same place each time', () => {
    const lines = Array.from({ length: 10 }, () => {
      try {
        return render(`\n${loops}\n${loops}\n${loops}\n${loops}`)
      } catch (error) {
        return (error as LiquidError).line
      }
    })
    expect(new Set(lines)).toEqual(new Set([5]))
  })
})

test.each([
  ['none', 'a {b} c', 0],
  ['three', '{{ a }}{% if b %}{% endif %}', 3],
  ['those in one', '{% liquid\n assign a = 1\n echo a\n%}', 4],
  ['those behind many spaces', `{%${' '.repeat(1000)}liquid\necho a\n%}`, 3],
  ['one that is not closed', '{% liquid\n\n\n', 1],
  ['too many', '{%'.repeat(50_000), 20_001],
])('countTags: %s', (_, text, expected) => expect(countTags(text)).toBe(expected))

test('a text with very many tags is refused before it is parsed', () => {
  expect(() => parseTemplate('{{ a }}'.repeat(70_000), { escape: false })).toThrow('more than 20000 tags')
})
