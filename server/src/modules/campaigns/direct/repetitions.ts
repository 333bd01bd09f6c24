/** Finds requests that repeat the key of an earlier one, which stand for its message whatever became of the campaign (D-MSG-2). */
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import type { CampaignId, UserId } from '../../../lib/ids.ts'
import { distinct } from '../../../lib/shapes.ts'
import { findKeyed, type KeyedMessage } from '../../messages/index.ts'
import { findUsers } from '../../users/index.ts'
import { slugsOf } from './queries.ts'
import type { MessageInput, SentMessage } from './schema.ts'

const FINGERPRINT = 'message fingerprint'

/** Everything that a request asks for, in one spelling: the campaign by its id, and members that are omitted by their defaults. */
function wholeOf(input: MessageInput, campaignId: CampaignId): string {
  const { key: _, data = {}, redact = [], locale = null, headers = null, attachments = [], ...asked } = input
  return canonicalJson({ ...asked, data, redact, locale, headers, attachments, campaign: campaignId, campaign_id: undefined })
}

/** A hash of everything that a request asks for. Keyed, because data can be a code of six digits. */
export const fingerprintOf = (ctx: ProjectCtx, input: MessageInput, campaignId: CampaignId): string =>
  ctx.secrets.sign(wholeOf(input, campaignId), FINGERPRINT)

/** A request, and the message that its key stands for. */
type Keyed = { input: MessageInput; message: KeyedMessage }

/** The messages of requests that ask for the same as the first one with their key did. */
export async function repeatedAmong(ctx: ProjectCtx | InTx, keyed: Keyed[]): Promise<Map<MessageInput, SentMessage>> {
  if (keyed.length === 0) return new Map()
  const isSame = await comparison(ctx, keyed)
  const same = keyed.filter(isSame)
  const rows = await findUsers(
    ctx,
    same.map(({ message }) => message.user_id),
  )
  const owners = new Map(rows.map(({ id, external_id, anonymous_id }) => [id, { id, external_id, anonymous_id }]))
  return new Map(same.map(({ input, message }) => [input, repeated(message, owners)]))
}

/** Compares requests with the first one. The slug of a campaign that was archived since may name another one by now. */
async function comparison(ctx: ProjectCtx | InTx, keyed: Keyed[]): Promise<(one: Keyed) => boolean> {
  const bySlug = distinct(keyed.flatMap(({ input, message }) => (input.campaign === undefined ? [] : [message.campaign_id])))
  const rows = bySlug.length === 0 ? [] : await slugsOf(ctx, bySlug)
  const slugs = new Map(rows.map(({ id, slug }) => [id, slug]))
  return ({ input, message: { campaign_id, fingerprint } }) =>
    (input.campaign === undefined || input.campaign === slugs.get(campaign_id)) &&
    (input.campaign_id === undefined || input.campaign_id === campaign_id) &&
    ctx.secrets.isSigned(wholeOf(input, campaign_id), fingerprint, FINGERPRINT)
}

const repeated = ({ id, user_id, state, reason, detail }: KeyedMessage, owners: ReadonlyMap<UserId, SentMessage['user']>): SentMessage => ({
  id,
  state,
  reason,
  detail,
  user: owners.get(user_id) ?? { id: user_id, external_id: null, anonymous_id: null },
  duplicate: true,
})

/** The messages of those among these requests that repeat an earlier one. */
export async function findRepeated(ctx: ProjectCtx, inputs: MessageInput[]): Promise<Map<MessageInput, SentMessage>> {
  const keys = distinct(inputs.flatMap(({ key }) => key ?? []))
  const messages = keys.length === 0 ? [] : await findKeyed(ctx, keys)
  const byKey = new Map(messages.map((message) => [message.key, message]))
  const keyed = inputs.flatMap((input): Keyed[] => {
    const message = byKey.get(input.key ?? '')
    return message ? [{ input, message }] : []
  })
  return repeatedAmong(ctx, keyed)
}
