/** The URLs of tracked links and pixels. They are signed, so they can be verified without the database. */
import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, LinkId, MessageId, ProjectId, UserId } from '../../lib/ids.ts'

/** The user and the message; both are null in a test send, whose links lead on and count nothing. */
export type Recipient = { projectId: ProjectId; campaignId: CampaignId } & (
  | { userId: UserId; messageId: MessageId }
  | { userId: null; messageId: null }
)

export type Tracker = {
  /** The URL that counts a click on a link and redirects to `url`; `url` itself if it cannot be tracked. */
  click(link: number, url: string): string
  /** The URL of the tracking pixel. */
  readonly pixel: string
}

/** The content of a token: the message, its time, and the link. */
export type Token = Recipient & { at: Date; link: LinkId | null }

type Signer = { secrets: Pick<Ctx['secrets'], 'sign'>; clock: Pick<Ctx['clock'], 'now'> } & Pick<Ctx, 'baseUrl'>

/** Some proxies and email clients do not support longer URLs. */
const URL_LENGTH_MAX = 8000
const VERSION = '1'
const RADIX = 36
/** Schemes that run code, show content, or start an email or a call. */
const UNTRACKED_SCHEMES = /^(?:javascript|data|vbscript|file|blob|about|view-source|mailto|tel|sms):/i

/** Creates the URLs of one message. `base` is their base URL, without a final slash; by default that of this server. */
export function trackerOf(
  ctx: Signer,
  { projectId, campaignId, userId, messageId, base = ctx.baseUrl() }: Recipient & { base?: string },
): Tracker {
  const ids = [projectId, campaignId, userId ?? 0, messageId ?? 0, ctx.clock.now().getTime()]
  const stem = `${VERSION}-${ids.map((id) => id.toString(RADIX)).join('-')}`
  return {
    click(link, url) {
      if (!isTrackable(url)) return url
      const fields = `${stem}-${link.toString(RADIX)}`
      const address = `${base}/c/${fields}-${ctx.secrets.sign(`${fields}\n${url}`, 'click')}?u=${encodeURIComponent(url)}`
      return address.length > URL_LENGTH_MAX ? url : address
    },
    get pixel() {
      const fields = `${stem}-0`
      return `${base}/o/${fields}-${ctx.secrets.sign(fields, 'open')}.gif`
    },
  }
}

/** Is this an absolute URL, of the web or of an app? A lone surrogate cannot be encoded in another URL. */
const isTrackable = (url: string) =>
  /^[a-z][a-z0-9+.-]*:./i.test(url) && !UNTRACKED_SCHEMES.test(url) && url.isWellFormed() && URL.canParse(url)

/** Reads the token of a click. Undefined if the signature does not match the token and the target. */
export function readClick(ctx: Pick<Ctx, 'secrets'>, token: string, url: string): Token | undefined {
  const [fields, signature] = cut(token)
  return ctx.secrets.isSigned(`${fields}\n${url}`, signature, 'click') && isTrackable(url) ? read(fields) : undefined
}

/** Where a tracked link of this project leads, on any host; null if the address is not a tracked link. */
export function targetOf(ctx: Pick<Ctx, 'secrets'>, projectId: ProjectId, address: string): string | null {
  const [, token, query] = /^https?:\/\/[^/?#]+\/c\/([^/?#]+)\?([^#]*)$/.exec(address) ?? []
  if (token === undefined) return null
  const url = new URLSearchParams(query).get('u') ?? ''
  return readClick(ctx, token, url)?.projectId === projectId ? url : null
}

/** Reads the token of a pixel. Undefined if the signature does not match. */
export function readOpen(ctx: Pick<Ctx, 'secrets'>, token: string): Token | undefined {
  const [fields, signature] = cut(token)
  return ctx.secrets.isSigned(fields, signature, 'open') ? read(fields) : undefined
}

// Seven fields are before the signature, which can contain hyphens.
const cut = (token: string) => {
  const [, fields = '', signature = ''] = /^([0-9a-z]+(?:-[0-9a-z]+){6})-(.*)$/s.exec(token) ?? []
  return [fields, signature] as const
}

/** Parses the fields of a token. Undefined for another version, which a newer server created. */
function read(fields: string): Token | undefined {
  const [version, ...rest] = fields.split('-')
  if (version !== VERSION) return undefined
  const [projectId, campaignId, userId, messageId, at, link] = rest.map((field) => Number.parseInt(field, RADIX)) as [
    ProjectId,
    CampaignId,
    UserId,
    MessageId,
    number,
    LinkId,
  ]
  const about = { projectId, campaignId, at: new Date(at), link: link || null }
  return messageId === 0 ? { ...about, userId: null, messageId: null } : { ...about, userId, messageId }
}
