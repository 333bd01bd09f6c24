import { describe, expect, test } from 'vitest'
import { type Contact, mailboxesIn } from '../channels/index.ts'
import { compose } from '../channels/tasks.ts'
import { renderContent } from './content.ts'

describe('a value inside a display name changes no address', () => {
  const VALUES = [
    'ceo@victim.example,',
    'ceo@victim.example;',
    'Ana <ceo@victim.example>',
    '" <ceo@victim.example>, "',
    '\\',
    'a:b (c',
    '[x]',
  ]
  const forged = [...VALUES, ...VALUES.map((value) => [value, 'x']), '\uFDD1, ceo@victim.example, \uFDD0', 'Ana\r\nBo, <c@d.example>']
  const rendered = (member: string, text: string, name: unknown) => {
    const content = renderContent(
      'email',
      { [member]: text },
      { event: { data: { name, boss: 'boss@example.com', both: 'a@b.example, C <c@d.example>' } } },
    )
    const composed = compose('email', { subject: 's', html: 'x', text: 'x', ...content }, { email: 'kim@example.org' } as Contact)
    return mailboxesIn((composed as unknown as { content: Record<string, string> }).content[member] ?? '')
  }

  test.each([
    ['from', '{{ event.data.name }} via Shop <shop@example.com>', ['shop@example.com']],
    ['from', '"{{ event.data.name }} via Shop" <shop@example.com>', ['shop@example.com']],
    ['from', '{{ event.data.name }}, Inc <shop@example.com>', ['shop@example.com']],
    ['from', '{% capture n %}{{ event.data.name }}{% endcapture %}{{ n }} <shop@example.com>', ['shop@example.com']],
    ['from', '{% echo event.data.name %} <{{ event.data.boss }}> ', ['boss@example.com']],
    ['reply_to', '{{ event.data.name }} <shop@example.com>', ['shop@example.com']],
    [
      'cc',
      'Bo <bo@example.com>, {{ event.data.name }} <{{ event.data.boss }}>; x@example.com',
      ['bo@example.com', 'boss@example.com', 'x@example.com'],
    ],
    ['cc', '"Doe, \\" Jane; {{ event.data.name }}" <jane@example.com>, b@example.com', ['jane@example.com', 'b@example.com']],
    ['bcc', '{{ event.data.both }}, {{ event.data.name }} <shop@example.com>', ['a@b.example', 'c@d.example', 'shop@example.com']],
  ])('%s: %s', (member, text, addresses) => {
    for (const name of [...forged, 'Ana', '', 7, null])
      expect(
        rendered(member, text, name).map(({ address }) => address),
        String(name),
      ).toEqual(addresses)
  })

  test.each([
    [
      '{% capture d %}{{ email | split: "@" | last }}{% endcapture %}{% if d == "acme.example" %}VIP{% endif %} <a@b.example>',
      'VIP <a@b.example>',
    ],
    [
      '{% capture d %}{% echo email %}{% endcapture %}{% case d %}{% when email %}{{ d.size }}{% endcase %} <a@b.example>',
      '16 <a@b.example>',
    ],
    ['{% capture d %}{% cycle email %}{% endcapture %}{{ d | slice: 0, 3 }} <a@b.example>', 'kim <a@b.example>'],
    [
      '{% capture d %}{% capture e %}{{ email }}{% endcapture %}{{ e }}{% endcapture %}{{ d }} <a@b.example>',
      '"kim@acme.example" <a@b.example>',
    ],
  ])('and is captured as it is: %s', (from, expected) => {
    expect(String(renderContent('email', { from }, { email: 'kim@acme.example' }).from).trim()).toBe(expected)
  })

  test('and is written as it is', () => {
    expect(rendered('from', '{{ event.data.name }} via Shop <shop@example.com>', 'Ana "A\\B", @ <x@y.example>')).toEqual([
      { name: 'Ana "A\\B", @ <x@y.example> via Shop', address: 'shop@example.com' },
    ])
    expect(renderContent('email', { from: '{{ name }} <a@example.com>' }, { name: 'Ana Lucía' })).toEqual({
      from: 'Ana Lucía <a@example.com>',
    })
  })
})
