import { lint } from './lint.ts'

const BYTES_MAX = 102 * 1024

export const tooLarge = lint({
  severity: 'warning',
  channels: ['email'],
  find({ written, rendered }) {
    const bytes = Buffer.byteLength(String(rendered.html ?? ''))
    if (bytes <= BYTES_MAX) return []
    const message = `The HTML is ${Math.ceil(bytes / 1024)} KB. Gmail clips emails at 102 KB, which may hide the unsubscribe link. Shorten the email.`
    return [{ param: written.mjml === undefined ? 'html' : 'mjml', message }]
  },
  examples: [
    { content: { subject: 's', html: 'é'.repeat(60_000) }, finds: ['html'] },
    { content: { subject: 's', html: 'e'.repeat(60_000) }, finds: [] },
  ],
})
