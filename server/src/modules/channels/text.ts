import { type Static, Type } from 'typebox'
import { Exact } from '../../lib/shapes.ts'
import { channel, summarise } from './channel.ts'

const TextContent = Exact({ to: Type.String({ description: 'E.164.' }), body: Type.String() })

export type TextContent = Static<typeof TextContent>

export const text = channel({
  content: TextContent,
  compose({ body }: Omit<TextContent, 'to'>, { phone }) {
    const to = phone as string
    return { recipient: to, summary: summarise(body), content: { to, body } }
  },
  sample: { recipient: '+61400000000', content: { to: '+61400000000', body: 'Hello Kim' } },
})
