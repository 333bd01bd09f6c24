import { describe, expect, test } from 'vitest'
import { ratioOf } from '../../../test/cpu-time.ts'
import { parseTemplate } from './liquid.ts'
import { namesOfPath } from './paths.ts'
import { isEmptyVariable, variablesOf } from './variables.ts'

test.each<[string, string[]]>([
  ['Hi\n\n{{ user.data.name | default: event.name }}', ['user.data.name:3', 'event.name:3']],
  ['{{ a }}{{ a }}', ['a:1', 'a:1']],
  ['{{ a }}{% assign a = user.id %}\n{{ a }}', ['a:1', 'user.id:1']],
  ['{% capture c %}{{ b }}{% endcapture %}{{ c }}', ['b:1']],
  [
    '{% for item in event.items %}\n{{ item.name }}{{ forloop.index }}{% endfor %}{{ item }}{{ forloop }}',
    ['event.items:1', 'item:2', 'forloop:2'],
  ],
  ['{% for i in a limit: b %}{% for j in i.c %}{{ j }}{{ i }}{% endfor %}{{ j }}{% endfor %}', ['a:1', 'b:1', 'j:1']],
  ['{%- tablerow i in a cols: b -%}{{ i }}{{ tablerowloop.col }}{%- endtablerow -%}', ['a:1', 'b:1']],
  ['{{ user.data["first name"] }}{{ user.data[event.key].x }}', ["user.data['first name']:1", 'user.data[event.key].x:1', 'event.key:1']],
  ['{% if x and\n y %}\n{{ z }}{% elsif v > w %}{% else %}{% endif %}', ['x:1', 'y:2', 'z:3', 'v:3', 'w:3']],
  ['{% unless a %}{% endunless %}{% case b %}{% when c, d %}{% endcase %}', ['a:1', 'b:1', 'c:1', 'd:1']],
  ['{% cycle a, b %}{% echo c | append: d %}{% increment n %}{{ n }}', ['a:1', 'b:1', 'c:1', 'd:1']],
  ['{% liquid\n  assign a = b\n  echo c\n%}{{ a }}', ['b:2', 'c:3']],
  ['{% raw %}{{ no }}{% endraw %}{% comment %}{{ no }}{% endcomment %}{% # no %}', []],
  [
    '{{ user.data.a\\.b.c | default: user.data["d.e"] }}{% if user.data.f\\\\ == 1 %}{% endif %}',
    ['user.data.a\\.b.c:1', 'user.data.d\\.e:1', 'user.data.f\\\\:1'],
  ],
  ['{% for i in user.data.a\\.b limit: event.c\\.d %}{{ i.e\\.f }}{% endfor %}', ['user.data.a\\.b:1', 'event.c\\.d:1']],
  ['nothing', []],
])('the variables of %j', (text, expected) => {
  const found = variablesOf(text).map(({ path, line }) => `${path}:${line}`)
  expect(found.sort()).toEqual([...expected].sort())
})

test('the parts of a path end before the first that is only known when rendering', () => {
  expect(variablesOf('{{ user.data[event.key].x }}{{ a[0].b }}').map(({ names }) => names)).toEqual([
    ['user', 'data'],
    ['event', 'key'],
    ['a'],
  ])
})

describe('a variable is empty if it renders nothing', () => {
  const scope = {
    items: [{ name: 'A' }],
    none: [],
    object: { a: 1, b: ' ' },
    own: { size: 'L', first: null },
    text: 'abc',
    blank: ' ',
    no: null,
  }

  test.each([
    ['items', false],
    ['items.first', false],
    ['items.first.name', false],
    ['items.last.name', false],
    ['items.first.price', true],
    ['items.size', false],
    ['none', true],
    ['none.first', true],
    ['none.size', false],
    ['object.size', false],
    ['object.first', true],
    ['object.b', true],
    ['own.size', false],
    ['own.first', true],
    ['text', false],
    ['text.size', false],
    ['text.first', true],
    ['blank', true],
    ['no.size', true],
    ['absent.first.size', true],
    ['object.constructor', true],
  ])('%s: %s', (path, isEmpty) => {
    expect(isEmptyVariable(scope, path.split('.'))).toBe(isEmpty)
    const isRendered = parseTemplate(`{{ ${path} }}`, { escape: false }).render(scope).trim() !== ''
    expect(isRendered).toBe(!isEmpty)
  })
})

test('finding thousands of long variables takes linear time', () => {
  const of = (length: number) => Array.from({ length: length / 170 }, (_, at) => `{{ user.data.${'k'.repeat(150)}${at} }}`).join('')
  expect(variablesOf(of(510_000))).toHaveLength(3000)
  expect(ratioOf(variablesOf, of)).toBeLessThan(3)
})

test('reading a long name with escapes takes linear time', () => {
  const of = (length: number) => `{{ user.data.${'a\\.\\\\'.repeat(length / 10)} }}`
  expect(variablesOf(of(20))).toMatchObject([{ names: ['user', 'data', 'a.\\a.\\'] }])
  expect(ratioOf(variablesOf, of)).toBeLessThan(3)
})

test.each([
  ['user.data.name', ['user', 'data', 'name']],
  ['user', ['user']],
  ['user.data["first name"]', ['user', 'data', 'first name']],
  ['user.data.a\\.b', ['user', 'data', 'a.b']],
  ['user.data["a.b"].c', ['user', 'data', 'a.b', 'c']],
  ['user.data.\\.a\\\\', ['user', 'data', '.a\\']],
  ['user.data.items[0].name', ['user', 'data', 'items']],
  ['user.data.a\\x', null],
  ['user.data["a" b]', null],
  ['user.data.', null],
  ['user.data[', null],
  ['', null],
  ['"text"', null],
  ['a | upcase', null],
  ['user.data[event.key]', null],
  ['a }}{{ b', null],
])('the parts of the path %j', (path, names) => expect(namesOfPath(path)).toEqual(names))
