/**
 * Rendered messages on their way from a worker thread: their large texts are packed, so that the main thread copies none that it does not
 * read. Emails for relays are composed in the thread, and are nothing but bytes afterwards. Pure.
 */
import { bytesOf, type Packed, type PackedBytes, textOf } from '../../../infra/threads/packed.ts'
import type { TaskTools } from '../../../infra/threads/task.ts'
import { bodyHashOf, divideMail } from '../../../lib/dkim/canonical.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import type { ComposedMail, Outgoing, Rendered } from '../../channels/index.ts'
import { composedText } from '../../channels/tasks.ts'
import { messageKey } from '../message-key.ts'
import { withRequested } from './mail-headers.ts'
import type { Composing, RenderResult } from './render.ts'

type Done = Extract<RenderResult, { rendered: Rendered }>

/** A rendered message. `texts` are members of its content; `mail` is the whole email instead of its HTML and text. */
export type PackedMessage = Done & {
  texts: [name: string, packed: Packed][]
  mail?: Omit<ComposedMail, 'content'> & { content: Packed }
}

/** A rendered message as the main thread has it. `bytes` is about what it takes, and `packed` where its large texts lie. */
export type RenderedMessage = Done & { mail?: ComposedMail; bytes: number; packed?: PackedBytes }

/** Shorter texts are copied. */
const PACKED_FROM = 1000

/** Packs a message, in a worker thread. */
export function packMessage(
  tools: TaskTools,
  { rendered, headers }: Done,
  about: { id: Outgoing['id']; projectId: ProjectId; now: Date; composing: Composing | undefined },
): PackedMessage {
  const mail = about.composing && composedMail(tools, { rendered, headers }, { ...about, composing: about.composing })
  if (mail) {
    const { html: _, text: __, ...content } = rendered.content
    return { rendered: { ...rendered, content }, headers, texts: [], mail }
  }
  const content = { ...rendered.content }
  const texts: PackedMessage['texts'] = []
  for (const [name, value] of Object.entries(content)) {
    if (typeof value !== 'string' || value.length < PACKED_FROM || !value.isWellFormed()) continue
    texts.push([name, tools.pack(value)])
    content[name] = ''
  }
  return { rendered: { ...rendered, content }, headers, texts }
}

function composedMail(
  { pack, secrets }: TaskTools,
  { rendered, headers }: Done,
  { id, projectId, now, composing }: { id: Outgoing['id']; projectId: ProjectId; now: Date; composing: Composing },
): PackedMessage['mail'] | undefined {
  const { created_at, defaultFrom, fromDomain, headers: own, hashesBody } = composing
  const key = messageKey({ secrets }, { project_id: projectId, id, created_at })
  const message = { content: rendered.content, headers: withRequested(headers, own), key, ...(fromDomain !== undefined && { fromDomain }) }
  const composed = composedText(message, defaultFrom, now)
  if (!composed) return undefined
  const { text, ...mail } = composed
  const bodyHash = hashesBody && bodyHashOf(divideMail(Buffer.from(text, 'latin1')).body)
  return { ...mail, content: pack(text), ...(bodyHash && { bodyHash }) }
}

/** Unpacks a message. Its texts are read when they are first used. */
export function unpackMessage({ rendered, headers, texts, mail }: PackedMessage, packed: PackedBytes | undefined): RenderedMessage {
  let bytes = 0
  for (const value of Object.values(rendered.content)) if (typeof value === 'string') bytes += value.length
  if (!packed) return { rendered, headers, bytes }
  for (const [name, text] of texts) {
    bytes += text.length
    readLater(rendered.content, name, () => textOf(packed.bytes, text))
  }
  if (!mail) return { rendered, headers, bytes, packed }
  return { rendered, headers, mail: { ...mail, content: bytesOf(packed.bytes, mail.content) }, bytes: bytes + mail.content.length, packed }
}

function readLater(content: Record<string, unknown>, name: string, read: () => string): void {
  const found = { enumerable: true, configurable: true }
  const get = () => {
    const value = read()
    Object.defineProperty(content, name, { ...found, writable: true, value })
    return value
  }
  Object.defineProperty(content, name, { ...found, get })
}
