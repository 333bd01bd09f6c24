import { type Static, Type } from 'typebox'
import { Exact } from '../../lib/shapes.ts'
import { storableText } from '../../lib/text.ts'
import { channel, oneLine, summarise } from './channel.ts'

const WebhookContent = Exact({
  method: Type.String(),
  endpoint: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.Optional(Type.String()),
})

export type WebhookContent = Static<typeof WebhookContent>

type WebhookTemplate = Partial<WebhookContent> & { endpoint: string }

export const webhook = channel({
  content: WebhookContent,
  compose({ method = 'POST', endpoint, headers = {}, body }: WebhookTemplate) {
    // The address is stored as the recipient.
    const address = storableText(endpoint.trim())
    if (!isWebUrl(address)) return { problem: 'The rendered endpoint is not a URL that starts with https:// or http://.' }
    const lines = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, oneLine(value)]))
    const content = { method, endpoint: address, headers: lines, ...(body !== undefined && { body }) }
    return { recipient: address, summary: summarise(`${method} ${address}`), content }
  },
  sample: {
    recipient: 'https://example.com/hook',
    content: { method: 'POST', endpoint: 'https://example.com/hook', headers: {}, body: '{}' },
  },
})

const isWebUrl = (text: string) => /^https?:\/\/\S+$/i.test(text) && URL.canParse(text)
