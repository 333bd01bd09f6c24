/** Messages that requests ask for: each is made once for its key, and is decided on before the request is answered. */
import { Conflict } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { MissingKey } from '../../../infra/runtime/secrets.ts'
import type { CampaignId, MessageId } from '../../../lib/ids.ts'
import { distinct } from '../../../lib/shapes.ts'
import { type SendableTemplate, sendableContent } from '../../templates/index.ts'
import { emit, webhookEvents } from '../../webhook-events/index.ts'
import { SEND_JOBS, TRANSACTIONAL, type TriggeringEvent } from '../schema.ts'
import * as queries from './queries.ts'
import { joined } from './redact.ts'
import type { AskedMessage, KeyedMessage, MessageRequest, RequestedMessage } from './schema.ts'

/** What happened to a message that was asked for. A repetition within the same call is that of an earlier item. */
export type AskedOutcome =
  | { is: 'new'; id: MessageId }
  /** The key stands for this message, whatever that was asked for with. */
  | { is: 'repeated'; message: KeyedMessage }
  | { is: 'repeated_item'; at: number }
  /** An earlier item of the call has the key, and asks for something else. */
  | { is: 'different' }

/** Stores message requests, except those whose key is taken. Returns the outcomes in the order of the requests. */
export async function askFor(ctx: InTx, asked: Omit<AskedMessage, 'id'>[]): Promise<AskedOutcome[]> {
  const ids = await queries.reserveIds(ctx, asked.length)
  const rows = asked.map((one, at): AskedMessage => ({ ...one, id: (ids[at] as { id: MessageId }).id }))
  const stored = new Set((await queries.insertRequests(ctx, rows)).map(({ id }) => id))
  const repeated = rows.filter(({ id }) => !stored.has(id))
  const known = repeated.length === 0 ? [] : await queries.findKeyed(ctx, distinct(repeated.flatMap(({ key }) => key ?? [])))
  return rows.map((row): AskedOutcome => {
    if (stored.has(row.id)) return { is: 'new', id: row.id }
    const message = known.find(({ key }) => key === row.key)
    if (message) return { is: 'repeated', message }
    const at = rows.findIndex(({ id, key }) => stored.has(id) && key === row.key)
    return rows[at]?.fingerprint === row.fingerprint ? { is: 'repeated_item', at } : { is: 'different' }
  })
}

/** Deletes the stored requests of items that are refused. */
export const withdrawAsked = async (ctx: InTx, ids: MessageId[]): Promise<void> => {
  if (ids.length > 0) await queries.deleteRequests(ctx, ids)
}

/** Keeps content that messages are about to have until the transaction ends. Throws a conflict if some was deleted since it was found. */
export async function holdContents(ctx: InTx, ids: number[]): Promise<void> {
  const wanted = distinct(ids)
  if (wanted.length === 0) return
  const held = await queries.holdContents(ctx, wanted)
  if (held.length < wanted.length) throw new Conflict('Another transaction deleted the content of a message.')
}

/**
 * Deletes content of requests that are gone, unless another message has it. In two statements: the first waits for requests that are about to
 * have it, and the second sees them.
 */
export async function deleteUnused(ctx: InTx, gone: { content_id: number | null }[]): Promise<void> {
  const ids = distinct(gone.flatMap(({ content_id }) => content_id ?? []))
  const unused = ids.length === 0 ? [] : await queries.lockUnusedContents(ctx, ids)
  const unusedIds = unused.map(({ id }) => id)
  if (unusedIds.length > 0) await queries.deleteUnusedContents(ctx, unusedIds)
}

/** Creates the messages. Those that may be sent are sent after the commit. */
export async function createRequested(ctx: InTx, messages: RequestedMessage[]): Promise<void> {
  if (messages.length === 0) return
  await queries.insertRequested(ctx, messages)
  const skipped = messages.flatMap(({ id, state }) => (state === 'skipped' ? [id] : []))
  if (skipped.length > 0) await queries.deleteSealed(ctx, skipped)
  ctx.wake(SEND_JOBS[TRANSACTIONAL])
  await emit(ctx, () =>
    messages.flatMap(({ id, campaign_id, channel, event, state }) => {
      const about = { message_id: id, campaign_id, channel }
      const queued = webhookEvents.queueMessageAuthenticated.of({ ...about, size: Buffer.byteLength(JSON.stringify(event)) })
      if (state === 'queued') return [queued]
      return [queued, webhookEvents.deliveryCompleted.of({ ...about, elapsed_ms: 0, delivered: 0, failed: 0 })]
    }),
  )
}

const SEALED = 'message request'

/** Encrypts the redacted values of a request. */
export const sealValues = ({ secrets }: Pick<ProjectCtx, 'secrets'>, values: [path: string, value: unknown][]): string | null =>
  values.length === 0 ? null : secrets.seal(JSON.stringify(values), SEALED)

const UNREADABLE = 'The redacted values of the message can no longer be decrypted. Send it again as a new message.'

const NO_KEY =
  'The redacted values of the message cannot be decrypted, because their encryption key is not in `SECRETS_KEY`. Add the key again, or send a new message.'

type Unsealed =
  | { event: TriggeringEvent | null }
  | { problem: string; isOverBudget: false }
  | { skipped: true; detail: string; error: MissingKey }

/**
 * The event with the redacted values, for rendering the message; or a problem if they cannot be decrypted. While this process does not have their
 * encryption key, which another process may have already, the message is skipped for a while; the caller logs the errors of all such messages at once.
 */
export function withSealed({ secrets, log }: Pick<ProjectCtx, 'secrets' | 'log'>, message: SealedMessage, sealed: string | null): Unsealed {
  const { id, event } = message
  if (event === null || sealed === null) return { event }
  try {
    const values = JSON.parse(secrets.open(sealed, SEALED)) as [string, unknown][]
    return { event: { ...event, data: joined(event.data, values) } }
  } catch (error) {
    if (error instanceof MissingKey) return { skipped: true, detail: NO_KEY, error }
    log.error({ err: error, message_id: id }, 'the redacted values of a message cannot be decrypted')
    return { problem: UNREADABLE, isOverBudget: false }
  }
}

type SealedMessage = { id: MessageId; event: TriggeringEvent | null }

/** What the requests of messages contained, by message. */
export async function loadRequests(
  ctx: ProjectCtx,
  messages: { id: MessageId; is_requested: boolean }[],
): Promise<ReadonlyMap<MessageId, MessageRequest>> {
  const ids = messages.flatMap(({ id, is_requested }) => (is_requested ? [id] : []))
  if (ids.length === 0) return NO_REQUESTS
  const rows = await queries.requestsOf(ctx, ids)
  const contentIds = distinct(rows.flatMap(({ content_id }) => content_id ?? []))
  const contents = contentIds.length === 0 ? [] : await queries.contentsById(ctx, contentIds)
  const byId = new Map(contents.map((content) => [content.id, content]))
  return new Map(
    rows.map(({ content_id, ...row }) => [
      row.message_id,
      { ...row, content: content_id === null ? null : (byId.get(content_id) ?? null) },
    ]),
  )
}

const NO_REQUESTS: ReadonlyMap<MessageId, MessageRequest> = new Map()

// Kept by the row and the campaign, so that messages with the same content in a batch are prepared once for each campaign.
const templates = new WeakMap<object, Map<CampaignId, SendableTemplate>>()

/** The template of a message whose content came with its request; undefined if its campaign has the templates. */
export function templateOf(campaignId: CampaignId, { content }: Pick<MessageRequest, 'content'>): SendableTemplate | undefined {
  if (!content) return undefined
  const ofContent = templates.get(content) ?? new Map<CampaignId, SendableTemplate>()
  templates.set(content, ofContent)
  const template = ofContent.get(campaignId) ?? sendableContent(campaignId, content)
  ofContent.set(campaignId, template)
  return template
}
