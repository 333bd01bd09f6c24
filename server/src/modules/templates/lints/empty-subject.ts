import { lint } from './lint.ts'
import { renderedFor } from './reading.ts'

export const emptySubject = lint({
  severity: 'warning',
  channels: ['email'],
  find: ({ written: { subject }, isRendered }) =>
    renderedFor(isRendered, String(subject), {})?.trim() === ''
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
