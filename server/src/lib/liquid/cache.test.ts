import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { bytesOf, CachedTemplate } from './cache.ts'
import { createEngine } from './engine.ts'

const COPIES = 25

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The size of the heap, once what earlier tests left is collected: finalisers run between collections. */
async function heap(): Promise<number> {
  let size = Number.POSITIVE_INFINITY
  for (let collected = Number.POSITIVE_INFINITY; collected > 1000; ) {
    collectGarbage()
    await new Promise(setImmediate)
    const { heapUsed } = process.memoryUsage()
    collected = size - heapUsed
    size = heapUsed
  }
  return size
}

test.each([
  ['a mail', `<p>Hello {{ user.data.first_name | default: "there" }}</p>${'<td>Carillon rings for you.</td>'.repeat(20)}`.repeat(20)],
  ['short outputs', '{{a}}'.repeat(500)],
  ['long outputs', '{{ a | append: b | append: c | append: d | append: e | append: f | append: g | append: h }}'.repeat(100)],
  ['conditions', '{% if user.data.plan == "pro" %}a{% else %}b{% endif %}'.repeat(200)],
  ['loops', '{% for i in user.data.items limit: 3 %}{{ i.name }}{% endfor %}'.repeat(150)],
  ['many values', `{% case a %}${'{% when 1,2,3,4,5,6,7,8,9,10 %}x'.repeat(200)}{% endcase %}`],
  ['a liquid tag', `{% liquid\n${'assign a = b\n'.repeat(300)}%}`],
])('the cache knows how much memory a template takes: %s', async (_, text) => {
  const liquid = createEngine('html')
  const kept: unknown[] = []
  const make = () => {
    const template = new CachedTemplate(liquid, liquid.parse(`${text}${kept.length}`))
    kept.push(template, template.block)
  }
  // What is allocated once is not counted.
  make()
  const before = await heap()
  for (let at = 0; at < COPIES; at++) make()
  const bytes = ((await heap()) - before) / COPIES
  expect(kept).toHaveLength(2 * (COPIES + 1))
  expect(bytesOf(text) / bytes).toBeGreaterThan(0.6)
  expect(bytesOf(text) / bytes).toBeLessThan(3)
})

test('a text that opens tags and closes none is measured in one pass', () => {
  expect(bytesOf('{%'.repeat(500_000))).toBeGreaterThan(1_000_000)
  expect(bytesOf('{ {a} %} }}')).toBe(bytesOf('{ (a) %} }}'))
})
