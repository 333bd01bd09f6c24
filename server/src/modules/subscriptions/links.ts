/**
 * Signed links to the hosted pages. They have no secret: anyone with the link may unsubscribe the user. A link stays valid as long as the
 * key that signed it is configured.
 */
import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { MessageId, ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'

type Signing = Pick<Ctx, 'secrets'>
type Linking = { secrets: Pick<Ctx['secrets'], 'sign'> } & Pick<Ctx, 'baseUrl'>

/** The user, type and message of a link. `messageId` is null in a preview. `userId` is null in a test send, whose pages change nothing. */
export type LinkedTo = { projectId: ProjectId; userId: UserId | null; subscriptionId: SubscriptionId; messageId: MessageId | null }

const SIGNATURE_CHARACTERS = 22
const IDS = /^[0-9a-z]{1,11}(?:-[0-9a-z]{1,11})*$/

// The ids come last, because mail programs cut `-`, `_` and `.` off the end of a link.
function signed(ctx: Pick<Linking, 'secrets'>, context: string, ids: number[]): string {
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
const PREVIEW = 'consent preview'

/** The links of a message, and the headers with which mail programs offer one-click unsubscribing (RFC 8058). */
export function linksOf(ctx: Linking, { projectId, userId, subscriptionId, messageId }: LinkedTo) {
  const token = signed(ctx, PAGES, [projectId, userId ?? 0, subscriptionId, messageId ?? 0])
  const unsubscribe_url = `${ctx.baseUrl()}/s/u/${token}`
  return {
    unsubscribe_url,
    preferences_url: `${ctx.baseUrl()}/s/p/${token}`,
    headers: { 'List-Unsubscribe': `<${unsubscribe_url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
  }
}

/** Reads a link. Null when the signature is wrong. */
export function readLink(ctx: Signing, token: string): LinkedTo | null {
  const ids = read(ctx, PAGES, token, 4)
  if (!ids) return null
  const [projectId, userId, subscriptionId, messageId] = ids as [ProjectId, UserId, SubscriptionId, MessageId]
  return { projectId, userId: userId === 0 ? null : userId, subscriptionId, messageId: messageId === 0 ? null : messageId }
}

/** The link that confirms a subscription. */
export const confirmUrl = (ctx: Linking, projectId: ProjectId, confirmation: number): string =>
  `${ctx.baseUrl()}/s/confirm/${signed(ctx, CONFIRMATION, [projectId, confirmation])}`

/** Reads a confirmation link. Null when the signature is wrong. */
export function readConfirmation(ctx: Signing, token: string): { projectId: ProjectId; confirmation: number } | null {
  const [projectId, confirmation] = read(ctx, CONFIRMATION, token, 2) ?? []
  return projectId === undefined || confirmation === undefined ? null : { projectId: projectId as ProjectId, confirmation }
}

/** The URL of the preference page of a user for a member of the team. That page saves nothing. */
export const previewPreferencesUrl = (ctx: Linking, projectId: ProjectId, userId: UserId): string =>
  `${ctx.baseUrl()}/s/p/${signed(ctx, PREVIEW, [projectId, userId])}`

/** Reads the link of a preview of the preference page. Null when the signature is wrong. */
export function readPreview(ctx: Signing, token: string): { projectId: ProjectId; userId: UserId } | null {
  const [projectId, userId] = read(ctx, PREVIEW, token, 2) ?? []
  return projectId === undefined || userId === undefined ? null : { projectId: projectId as ProjectId, userId: userId as UserId }
}
