import { segmentsOf } from '../sms.ts'
import { lint } from './lint.ts'
import { renderedFor } from './reading.ts'

const SEGMENTS_MAX = 3

export const smsLong = lint({
  severity: 'warning',
  channels: ['text'],
  find({ written: { body }, isRendered, about: { sample } }) {
    const { segments } = segmentsOf(renderedFor(isRendered, String(body), sample) ?? String(body))
    if (segments <= SEGMENTS_MAX) return []
    return [{ param: 'body', message: `The text needs ${segments} segments, each of which is charged. Shorten it.` }]
  },
  examples: [
    { channel: 'text', content: { body: 'x'.repeat(460) }, finds: ['body'] },
    { channel: 'text', content: { body: `é✓${'x'.repeat(200)}` }, finds: ['body'] },
    { channel: 'text', content: { body: 'x'.repeat(459) }, finds: [] },
    { channel: 'text', content: { body: `{% if false %}${'x'.repeat(460)}{% endif %}Hi` }, finds: [] },
  ],
})
