/**
 * The files of emails while they are sent. Those of a template are read once for its version and shared by its messages; those of a request
 * are read right before the attempt. Memory is bounded: of what is cached, and of what is being sent.
 */
import { LRUCache } from 'lru-cache'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { Attachment } from '../../../lib/mime/compose.ts'
import type { Outgoing } from '../../channels/index.ts'
import { allAttachments, attachmentsOfTemplate, type SendableTemplate } from '../../templates/index.ts'
import { attachmentsOf } from '../requests/attachments.queries.ts'
import type { MessageRequest } from '../requests/schema.ts'

/** Of the files of templates that are kept between slices. */
const KEPT_BYTES_MAX = 64_000_000
/** Of the files of messages that are being sent. A provider holds each in base64 too. */
const IN_FLIGHT_BYTES_MAX = 32_000_000

export type Attachments = {
  /** The files of this version of a template. Null if it was changed since, so that its messages need the new version. */
  ofTemplate(ctx: ProjectCtx, template: SendableTemplate): Promise<readonly Attachment[] | null>
  /** Runs `send` as soon as this many bytes more can be in flight. */
  holding<T>(bytes: number, send: () => Promise<T>): Promise<T>
}

const NONE: readonly Attachment[] = []

export function createAttachments(): Attachments {
  const known = new LRUCache<string, Promise<readonly Attachment[] | null>>({ maxSize: KEPT_BYTES_MAX })
  const { holding } = createByteBudget(IN_FLIGHT_BYTES_MAX)
  return {
    holding,
    ofTemplate(ctx, template) {
      if (template.attachment_bytes === 0) return Promise.resolve(NONE)
      const key = `${ctx.projectId}:${template.id}:${template.updated_at.getTime()}`
      const found = known.get(key)
      if (found) return found
      const reading = readFiles(ctx, template)
      known.set(key, reading, { size: template.attachment_bytes })
      // What cannot be read, or is another version, is read again.
      const forget = () => void known.delete(key)
      reading.then((files) => files === null && forget(), forget)
      return reading
    },
  }
}

async function readFiles(ctx: ProjectCtx, { id, attachment_bytes }: SendableTemplate): Promise<readonly Attachment[] | null> {
  const files = await attachmentsOfTemplate(ctx, id)
  return bytesIn(files) === attachment_bytes ? files : null
}

const bytesIn = (files: readonly Attachment[]) => files.reduce((sum, { content }) => sum + content.byteLength, 0)

/** Lets callers hold at most `max` bytes together, in the order in which they come. One may hold more if it is alone. */
export function createByteBudget(max: number): Pick<Attachments, 'holding'> {
  const waiting: { bytes: number; start: () => void }[] = []
  let [held, holders] = [0, 0]
  const startNext = () => {
    const [next] = waiting
    if (!next || (holders > 0 && held + next.bytes > max)) return
    waiting.shift()
    held += next.bytes
    holders++
    next.start()
    startNext()
  }
  return {
    async holding(bytes, send) {
      if (bytes === 0) return send()
      await new Promise<void>((start) => {
        waiting.push({ bytes, start })
        startNext()
      })
      try {
        return await send()
      } finally {
        held -= bytes
        holders--
        startNext()
      }
    },
  }
}

/** The files of the templates of a slice. Templates that have changed since they were read are left out. */
export async function attachmentsOfSlice(
  ctx: ProjectCtx,
  { ofTemplate }: Attachments,
  slice: readonly { ready: { eligible: { template: SendableTemplate } } }[],
): Promise<ReadonlyMap<SendableTemplate, readonly Attachment[]>> {
  const found = new Map<SendableTemplate, readonly Attachment[]>()
  // One after the other: the templates of a slice are few, and their files are large.
  for (const template of new Set(slice.map(({ ready }) => ready.eligible.template))) {
    const files = await ofTemplate(ctx, template)
    if (files) found.set(template, files)
  }
  return found
}

/** The files of a message: those of its request, which are read for the attempt, and those of its template. */
export type Files = { request: MessageRequest | undefined; ofTemplate: readonly Attachment[] | undefined }

/** How many bytes the files of a message have. */
export const bytesOf = ({ request, ofTemplate = NONE }: Files): number => (request?.attachment_bytes ?? 0) + bytesIn(ofTemplate)

/** A message with its files. */
export async function withFiles(ctx: ProjectCtx, outgoing: Outgoing, { request, ofTemplate = NONE }: Files): Promise<Outgoing> {
  const count = request?.attachments ?? 0
  const attachments = allAttachments(ofTemplate, count > 0 ? await attachmentsOf(ctx, outgoing.id) : NONE)
  return attachments.length > 0 ? { ...outgoing, attachments } : outgoing
}
