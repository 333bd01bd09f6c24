import { segmentsOf } from '../sms.ts'
import { lint } from './lint.ts'
import { maskedFor } from './reading.ts'

const CHARACTERS_SHOWN = 10

export const smsUnicode = lint({
  severity: 'info',
  channels: ['text'],
  find({ written: { body }, isRendered }) {
    const { text, placeholder } = maskedFor(isRendered, String(body))
    const { non_gsm } = segmentsOf(text.replace(placeholder, ''))
    if (non_gsm.length === 0) return []
    const characters = non_gsm.slice(0, CHARACTERS_SHOWN).map((character) => `\`${character}\``)
    const message = `The text contains ${characters.join(' ')}, so a segment has room for 70 characters instead of 160. Replace them if you can.`
    return [{ param: 'body', message }]
  },
  examples: [
    { channel: 'text', content: { body: 'It’s on 🎉' }, finds: ['body'] },
    { channel: 'text', content: { body: 'Costs 5 € at the café, {{ user.data.name | default: "’" }}' }, finds: [] },
  ],
})
