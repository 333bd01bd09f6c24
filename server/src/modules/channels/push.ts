import { type Static, Type } from 'typebox'
import { Exact } from '../../lib/shapes.ts'
import { channel, filledOnly, nameOf, summarise } from './channel.ts'

const PushContent = Exact({
  title: Type.String(),
  body: Type.String(),
  url: Type.Optional(Type.String({ description: 'The URL that opens when the message is tapped.' })),
  topic: Type.Optional(Type.String()),
  custom: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'Additional data for the app.' })),
})

export type PushContent = Static<typeof PushContent>

/** Push messages to the devices of a user. The recipient is the user’s id, because device tokens are credentials. */
export const push = channel({
  content: PushContent,
  compose({ title, body, url, topic, custom }: PushContent, contact) {
    const content = { title, body, ...filledOnly({ url, topic }), ...(custom && { custom }) }
    return { recipient: nameOf(contact), summary: summarise(title), content }
  },
  sample: { recipient: 'kim', content: { title: 'Hello', body: 'Hello Kim' } },
})
