/**
 * The links by which people decide for themselves. What they hold is signed, and nothing in it is secret: whoever has the link may
 * unsubscribe. They work for ever, with every key that was ever in use and still is in the ring.
 */
import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { MessageId, ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'

type Signing = Pick<Ctx, 'secrets'>
type Linking = Pick<Ctx, 'secrets' | 'baseUrl'>

/** Of what message, to whom, a link is part. `messageId` is null in a preview. */
export type LinkedTo = { projectId: ProjectId; userId: UserId; subscriptionId: SubscriptionId; messageId: MessageId | null }

const SIGNATURE_CHARACTERS = 22
const IDS = /^[0-9a-z]{1,11}(?:-[0-9a-z]{1,11})*$/

// The ids come last: what mail programs cut off a link's end (`-`, `_`, `.`) is never part of it.
function written(ctx: Signing, context: string, ids: number[]): string {
  const text = ids.map((id) => id.toString(36)).join('-')
  return ctx.secrets.sign(text, context) + text
}

function read(ctx: Signing, context: string, token: string, count: number): number[] | null {
  const [signature, text] = [token.slice(0, SIGNATURE_CHARACTERS), token.slice(SIGNATURE_CHARACTERS)]
  if (!IDS.test(text) || !ctx.secrets.isSigned(text, signature, context)) return null
  const ids = text.split('-').map((part) => Number.parseInt(part, 36))
  return ids.length === count ? ids : null
}

const PAGES = 'consent pages'
const CONFIRMATION = 'consent confirmation'

/** The links of a message, and the headers by which mail programs offer the same (RFC 8058). */
export function linksOf(ctx: Linking, { projectId, userId, subscriptionId, messageId }: LinkedTo) {
  const token = written(ctx, PAGES, [projectId, userId, subscriptionId, messageId ?? 0])
  const unsubscribe_url = `${ctx.baseUrl()}/s/u/${token}`
  return {
    unsubscribe_url,
    preferences_url: `${ctx.baseUrl()}/s/p/${token}`,
    headers: { 'List-Unsubscribe': `<${unsubscribe_url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
  }
}

/** What such a link is part of; null when nobody signed it. */
export function readLink(ctx: Signing, token: string): LinkedTo | null {
  const ids = read(ctx, PAGES, token, 4)
  if (!ids) return null
  const [projectId, userId, subscriptionId, messageId] = ids as [ProjectId, UserId, SubscriptionId, MessageId]
  return { projectId, userId, subscriptionId, messageId: messageId === 0 ? null : messageId }
}

/** Where somebody confirms. */
export const confirmUrl = (ctx: Linking, projectId: ProjectId, confirmation: number): string =>
  `${ctx.baseUrl()}/s/confirm/${written(ctx, CONFIRMATION, [projectId, confirmation])}`

/** Which request a link confirms; null when nobody signed it. */
export function readConfirmation(ctx: Signing, token: string): { projectId: ProjectId; confirmation: number } | null {
  const [projectId, confirmation] = read(ctx, CONFIRMATION, token, 2) ?? []
  return projectId === undefined || confirmation === undefined ? null : { projectId: projectId as ProjectId, confirmation }
}
