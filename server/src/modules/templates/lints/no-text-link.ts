import { lint } from './lint.ts'
import { elementsOf, LINKS } from './reading.ts'

export const noTextLink = lint({
  severity: 'info',
  channels: ['email'],
  find(template) {
    const { text } = template.written
    if (typeof text !== 'string' || text.trim() === '' || /https?:\/\/|\{\{[^{}]*url/i.test(text)) return []
    const hasLinks = elementsOf(template).some(({ name, attribute }) => LINKS.has(name) && attribute('href'))
    return hasLinks ? [{ param: 'text', message: 'The plain text contains no links. Add them, or omit `text` to generate it.' }] : []
  },
  examples: [
    { content: { subject: 's', html: '<a href="https://example.com">x</a>', text: 'Come by' }, finds: ['text'] },
    { content: { subject: 's', html: '<a href="https://example.com">x</a>', text: 'Come by: https://example.com' }, finds: [] },
    { content: { subject: 's', html: '<a href="https://example.com">x</a>', text: '{{ unsubscribe_url }}' }, finds: [] },
    { content: { subject: 's', html: '<a href="https://example.com">x</a>' }, finds: [] },
    { content: { subject: 's', html: '<p>x</p>', text: 'x' }, finds: [] },
  ],
})
