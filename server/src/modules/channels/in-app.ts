import { type Static, Type } from 'typebox'
import { Exact } from '../../lib/shapes.ts'
import { channel, filledOnly, nameOf, summarise } from './channel.ts'

const InAppContent = Exact({
  type: Type.String({ description: '`banner`, `modal` or `inbox`.' }),
  title: Type.String(),
  body: Type.String(),
  html: Type.Optional(Type.String()),
  image: Type.Optional(Type.String()),
  action_url: Type.Optional(Type.String()),
  expires_at: Type.Optional(Type.String({ description: 'When the message expires, in ISO 8601.' })),
})

type InAppTemplate = Omit<Static<typeof InAppContent>, 'type'> & { type?: string }

export const inApp = channel({
  content: InAppContent,
  compose({ type = 'inbox', title, body, html, image, action_url, expires_at }: InAppTemplate, contact) {
    const content = { type, title, body, ...filledOnly({ html, image, action_url, expires_at }) }
    return { recipient: nameOf(contact), summary: summarise(title), content }
  },
  sample: { recipient: 'kim', content: { type: 'inbox', title: 'Hello', body: 'Hello Kim' } },
})
