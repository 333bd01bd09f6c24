/**
 * Signed links to the hosted pages. They have no secret: anyone with the link may unsubscribe the user. A link stays valid as long as the
 * key that signed it is configured.
 */
import { createHash } from 'node:crypto'
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

const ADDRESS_BYTES = 6

/** A number that says in the link of a confirmation which normalised address it is about. */
const addressNumber = (confirmation: number, address: string): number =>
  createHash('sha256').update(`${confirmation} ${address}`).digest().readUIntBE(0, ADDRESS_BYTES)

/** The link that confirms a subscription, for the normalised address that it is about; null on channels without addresses. */
export function confirmUrl(ctx: Linking, projectId: ProjectId, confirmation: number, address: string | null): string {
  const about = address === null ? [] : [addressNumber(confirmation, address)]
  return `${ctx.baseUrl()}/s/confirm/${signed(ctx, CONFIRMATION, [projectId, confirmation, ...about])}`
}

/** `isAbout` says whether a normalised address is that of the link; null if the link has none. */
type Confirmation = { projectId: ProjectId; confirmation: number; isAbout: ((address: string) => boolean) | null }

/** Reads a confirmation link. Null when the signature is wrong. */
export function readConfirmation(ctx: Signing, token: string): Confirmation | null {
  const [projectId, confirmation, address] = read(ctx, CONFIRMATION, token, 2) ?? read(ctx, CONFIRMATION, token, 3) ?? []
  if (projectId === undefined || confirmation === undefined) return null
  const isAbout = address === undefined ? null : (one: string) => addressNumber(confirmation, one) === address
  return { projectId: projectId as ProjectId, confirmation, isAbout }
}

/** The URL of the preference page of a user for a member of the team. That page saves nothing. */
export const previewPreferencesUrl = (ctx: Linking, projectId: ProjectId, userId: UserId): string =>
  `${ctx.baseUrl()}/s/p/${signed(ctx, PREVIEW, [projectId, userId])}`

/** Reads the link of a preview of the preference page. Null when the signature is wrong. */
export function readPreview(ctx: Signing, token: string): { projectId: ProjectId; userId: UserId } | null {
  const [projectId, userId] = read(ctx, PREVIEW, token, 2) ?? []
  return projectId === undefined || userId === undefined ? null : { projectId: projectId as ProjectId, userId: userId as UserId }
}
