import { type Static, Type } from 'typebox'
import { Exact } from '../../lib/shapes.ts'
import { channel, filledOnly, oneLine, summarise } from './channel.ts'
import { withQuotedName } from './mailbox.ts'

const Addresses = Type.Optional(Type.String({ description: 'Comma-separated addresses.' }))

const EmailContent = Exact({
  from: Type.Optional(Type.String()),
  to: Type.String(),
  reply_to: Type.Optional(Type.String()),
  cc: Addresses,
  bcc: Addresses,
  subject: Type.String(),
  preheader: Type.Optional(Type.String({ description: 'Text that email clients show after the subject.' })),
  html: Type.String(),
  text: Type.String({ description: 'The plain text part.' }),
})

export type EmailContent = Static<typeof EmailContent>

type EmailTemplate = Omit<EmailContent, 'to'>

export const email = channel({
  content: EmailContent,
  compose({ from, reply_to, cc, bcc, subject, preheader, html, text }: EmailTemplate, { email }) {
    const to = email as string
    const lines = Object.entries({ from, reply_to, cc, bcc, preheader }).map(([name, value]) => [name, oneLine(value ?? '')] as const)
    const headers = lines.map(([name, value]) => [name, name === 'preheader' ? value : withQuotedName(value)])
    const content = { ...filledOnly(Object.fromEntries(headers)), to, subject: oneLine(subject), html, text }
    return { recipient: to, summary: summarise(content.subject), content }
  },
  sample: {
    recipient: 'kim@example.org',
    content: { from: 'Carillon <hello@example.com>', to: 'kim@example.org', subject: 'Hello', html: '<p>Hello Kim</p>', text: 'Hello Kim' },
  },
})
