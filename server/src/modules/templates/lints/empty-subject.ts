import type { Scope } from '../../../lib/liquid/liquid.ts'
import { canonicalPath } from '../../../lib/liquid/paths.ts'
import { variablesOf } from '../../../lib/liquid/variables.ts'
import { type Linted, lint } from './lint.ts'
import { renderedFor } from './reading.ts'

export const emptySubject = lint({
  severity: 'warning',
  channels: ['email'],
  find: (template) =>
    isEmptyWithoutData(template)
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
    { content: { subject: '{{ user.data.name }}', html: 'x', required: ['user.data.mood'] }, finds: ['subject:1'] },
    { content: { subject: '{{ user.data.name }}', html: 'x', required: ['user.data.name'] }, finds: [] },
    { content: { subject: '{{ project.name }}', html: 'x' }, about: { sample: { project: { name: 'Beans' } } }, finds: [] },
    { content: { subject: '{{ event.data.title }}', html: 'x' }, about: { isTrigger: true }, finds: [] },
    { content: { subject: '{{ user.data.name | default: "News" }}', html: 'x' }, finds: [] },
  ],
})

/** Whether a user without attributes gets an empty subject. What is required is never empty, and what an event has is not known. */
function isEmptyWithoutData({ written: { subject, required = [] }, isRendered, about: { isTrigger, sample } }: Linted): boolean {
  const text = String(subject)
  const user = { ...(sample.user as Scope | undefined), data: {} }
  if (renderedFor(isRendered, text, { ...sample, user })?.trim() !== '') return false
  if (isRendered) return true
  const filled = (required as string[]).map(canonicalPath)
  return !variablesOf(text).some(
    ({ path, names: [root = ''] }) => filled.includes(path) || (isTrigger && ['event', 'journey'].includes(root)),
  )
}
