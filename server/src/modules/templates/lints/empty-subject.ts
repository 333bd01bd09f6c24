import { LiquidError, parseTemplate } from '../../../lib/liquid/liquid.ts'
import { lint } from './lint.ts'

export const emptySubject = lint({
  severity: 'warning',
  channels: ['email'],
  find: ({ written: { subject } }) =>
    isEmptyWithoutData(String(subject))
      ? [
          {
            param: 'subject',
            line: 1,
            message: 'The subject is empty for users without data. Add text, or a default with `| default: "…"`.',
          },
        ]
      : [],
  examples: [
    { content: { subject: '{{ user.data.name }}', html: 'x' }, finds: ['subject:1'] },
    { content: { subject: '{% if user.data.name %}Hi{% endif %}', html: 'x' }, finds: ['subject:1'] },
    { content: { subject: '{{ user.data.name | default: "News" }}', html: 'x' }, finds: [] },
  ],
})

function isEmptyWithoutData(subject: string): boolean {
  try {
    return parseTemplate(subject, { escape: false }).render({}).trim() === ''
  } catch (error) {
    if (error instanceof LiquidError) return false
    throw error
  }
}
