import { variablesOf } from '../../../lib/liquid/variables.ts'
import { lint } from './lint.ts'
import { textsOf } from './reading.ts'

const WAYS_OUT = ['unsubscribe_url', 'preferences_url']

export const noUnsubscribeLink = lint({
  severity: 'error',
  channels: ['email'],
  find({ written: { html, mjml }, about }) {
    if (about.isTransactional) return []
    const texts = textsOf({ html, mjml })
    if (texts.some(({ text }) => variablesOf(text).some(({ names: [root = ''] }) => WAYS_OUT.includes(root)))) return []
    const message =
      'This email has no unsubscribe link. Most countries require one in marketing email. Add a link to `{{ unsubscribe_url }}` or `{{ preferences_url }}`.'
    return texts.map(({ param }) => ({ param, message }))
  },
  examples: [
    { content: { subject: 's', html: '<p>unsubscribe_url</p>' }, finds: ['html'] },
    { content: { subject: 's', html: 'x', text: '{{ unsubscribe_url }}' }, finds: ['html'] },
    { content: { subject: 's', mjml: '<mjml></mjml>' }, finds: ['mjml'] },
    { content: { subject: 's', html: '<a href="{{ unsubscribe_url }}">Stop</a>' }, finds: [] },
    { content: { subject: 's', html: '{{ preferences_url | escape }}' }, finds: [] },
    { content: { subject: 's', html: 'x' }, about: { isTransactional: true }, finds: [] },
  ],
})
