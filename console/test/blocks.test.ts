/** Blocks of emails: they are stored as MJML, and what MJML says is never lost. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTemplate } from '../../server/src/lib/liquid/liquid.ts'
import { compileMjml } from '../../server/src/modules/templates/mjml/compile-mjml.ts'
import { type Block, blocksOf, type Leaf, mjmlOf } from '../src/screens/campaigns/editor/blocks/document.ts'
import { apply, begin, give, redo, undo } from '../src/screens/campaigns/editor/blocks/edit.ts'
import { KINDS, type KindName, kindOf } from '../src/screens/campaigns/editor/blocks/kinds.ts'

const leaf = (id: number, is: KindName, values: Record<string, string> = {}): Leaf => ({
  id,
  is,
  values: { ...kindOf(is).start, ...values },
})

const EVERY_KIND: Block[] = [
  leaf(1, 'heading', { text: 'Hello {{ user.data.first_name | default: "you" }}' }),
  leaf(2, 'text', {
    text: 'Fish & chips < 20 dollars,\n**only {% if a < b %}today{% endif %}**: [the menu](https://a.test/?x=1&y={{ id }}).',
  }),
  leaf(3, 'image', { src: '{{ user.data.picture | default: "https://a.test/x.png" }}', alt: 'A "fish"' }),
  leaf(4, 'image', { src: 'https://a.test/x.png', alt: 'Chips', href: 'https://a.test/?x=1&y=2' }),
  leaf(15, 'image', { src: 'https://a.test/x.png', alt: '', href: 'https://a.test/decorative' }),
  {
    id: 5,
    is: 'columns',
    columns: [[leaf(12, 'text', { text: 'Left' })], [leaf(13, 'button', { text: 'Right' }), leaf(14, 'divider')]],
  },
  leaf(6, 'button', { text: 'Order', href: 'https://a.test/' }),
  leaf(7, 'divider'),
  leaf(8, 'spacer', { height: '32' }),
  leaf(9, 'social', { text: '[Mastodon](https://m.test/@a)' }),
  leaf(10, 'html', { html: '<table>\n<tr><td class="x">{{ order.total }}</td></tr></table>' }),
  leaf(11, 'footer', { text: 'Acme, 1 Road St' }),
]

const withoutIds = (blocks: Block[]): unknown[] =>
  blocks.map((block) => (block.is === 'columns' ? block.columns.map(withoutIds) : { is: block.is, ...block.values }))

describe('stored as MJML', () => {
  test('every kind of block comes back as it was', () => {
    expect(withoutIds(blocksOf(mjmlOf(EVERY_KIND)) ?? [])).toEqual(withoutIds(EVERY_KIND))
  })

  const piece = fc.constantFrom(
    '{{ a }}',
    '{{',
    '}}',
    '{% if a < "b" %}',
    '{%',
    '<',
    '>',
    '"',
    '&',
    '&lt;',
    '**',
    '[',
    '](',
    ')',
    '\n',
    'a',
    ' ',
    '</mj-text>',
    '<script>',
  )
  const value = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))

  test('whatever is typed into a text comes back, and its Liquid is as it was typed', () => {
    fc.assert(
      fc.property(value, (text) => {
        const typed = [leaf(1, 'text', { text: text.replaceAll(/\{\{|\}\}|\{%|%\}/g, (found) => (found.length === 2 ? found : '')) })]
        const again = blocksOf(mjmlOf(typed))
        // What would be read otherwise is left as MJML, and never as other blocks.
        if (again !== null) expect(mjmlOf(again)).toBe(mjmlOf(typed))
      }),
    )
    for (const text of [
      'a {{ b | default: "<c>" }} d',
      '{% if a < b and c %}x{% endif %}',
      'half {{ typed',
      'a **b',
      '[a](b c)',
      '1 < 2 & 3 > 2 "x"',
    ])
      expect(withoutIds(blocksOf(mjmlOf([leaf(1, 'text', { text })])) ?? [])).toEqual([{ is: 'text', text }])
  })

  test.each([
    ['text', 'text', '<script>alert(1)</script>'],
    ['text', 'text', '[x](javascript:alert%281%29)'],
    ['button', 'href', ' JavaScript:alert(1)'],
    ['image', 'src', 'data:text/html,<script>'],
    ['html', 'html', '<script>alert(1)</script>'],
    ['html', 'html', '</mj-text><mj-raw><SCRIPT>'],
  ] as const)('a block of %s has no script in its %s: %s', (is, field, value) => {
    const mjml = mjmlOf([leaf(1, is, { [field]: value })])
    expect(mjml).not.toMatch(/<script|(?:href|src)="\s*(?:javascript|data):/i)
    expect(blocksOf(mjml)).toHaveLength(1)
  })

  test.each([
    ['an attribute', '<mj-divider', '<mj-divider width="50%"'],
    ['a comment', '    <mj-section>\n', '    <!-- a -->\n    <mj-section>\n'],
    ['Liquid between blocks', '      <mj-column>\n', '      <mj-column>\n        {% if a %}\n'],
    ['another element', '<mj-body>', '<mj-body background-color="#eee">'],
  ])('MJML with %s is not shown as blocks', (_, before, after) => {
    expect(blocksOf(mjmlOf(EVERY_KIND).replace(before, after))).toBeNull()
  })

  test('the server compiles every kind of block, and finds the way to unsubscribe', async () => {
    const made = await compileMjml(mjmlOf(EVERY_KIND))
    if ('faults' in made) throw new Error(JSON.stringify(made.faults))
    const html = await parseTemplate(made.html, { escape: true }).render({ unsubscribe_url: 'https://a.test/unsubscribe' })
    for (const text of [
      'Hello you',
      'Fish &amp; chips',
      'alt="Chips"',
      'Mastodon',
      'Left',
      'Order',
      'Acme',
      'href="https://a.test/unsubscribe"',
    ])
      expect(html).toContain(text)
    expect(new Set(EVERY_KIND.map(({ is }) => is))).toEqual(new Set([...Object.keys(KINDS), 'columns']))
  })
})

describe('editing', () => {
  test('blocks are added, written, moved, copied and removed, also in columns', () => {
    let blocks = apply([], { do: 'add', is: 'text', to: undefined })
    blocks = apply(blocks, { do: 'add', is: 'columns', to: undefined })
    blocks = apply(blocks, { do: 'add', is: 'text', to: { columns: 2, index: 1 } })
    blocks = apply(blocks, { do: 'write', id: 3, field: 'text', value: 'inside' })
    blocks = apply(blocks, { do: 'copy', id: 2 })
    blocks = apply(blocks, { do: 'write', id: 5, field: 'text', value: 'copied' })
    blocks = apply(blocks, { do: 'move', id: 1, by: 1 })
    expect(withoutIds(blocks)).toEqual([
      [[], [{ is: 'text', text: 'inside' }]],
      { is: 'text', text: '' },
      [[], [{ is: 'text', text: 'copied' }]],
    ])
    expect(withoutIds(apply(blocks, { do: 'remove', id: 3 }))[0]).toEqual([[], []])
    expect(apply(blocks, { do: 'move', id: 2, by: -1 })).toBe(blocks)
    expect(apply(blocks, { do: 'add', is: 'columns', to: { columns: 2, index: 0 } })).toBe(blocks)
  })

  test('what is typed into a field is undone together, and done again', () => {
    let history = give(begin([]), { do: 'add', is: 'text', to: undefined })
    for (const value of ['a', 'ab', 'abc']) history = give(history, { do: 'write', id: 1, field: 'text', value })
    expect(withoutIds(undo(history).now)).toEqual([{ is: 'text', text: '' }])
    expect(withoutIds(redo(undo(history)).now)).toEqual([{ is: 'text', text: 'abc' }])
    expect(undo(undo(undo(history))).now).toEqual([])
    expect(give(undo(history), { do: 'remove', id: 1 }).after).toEqual([])
  })
})
