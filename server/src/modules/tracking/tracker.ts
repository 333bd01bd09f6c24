/** The addresses that links and pictures of messages get: signed, so that they can be trusted without asking the database. */
import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, LinkId, MessageId, ProjectId, UserId } from '../../lib/ids.ts'

/** Whose message it is. */
export type Recipient = { projectId: ProjectId; campaignId: CampaignId; userId: UserId; messageId: MessageId }

export type Tracker = {
  /** The address that counts a click on a link and leads on to `url`; `url` itself when it cannot be led on to. */
  click(link: number, url: string): string
  /** The address of the picture that tells of an open. */
  readonly pixel: string
}

/** What a token says: whose message, made when, and which link. */
export type Token = Recipient & { at: Date; link: LinkId | null }

type Signer = Pick<Ctx, 'secrets' | 'clock' | 'baseUrl'>

/** Longer ones do not pass every proxy and mail program. */
const URL_LENGTH_MAX = 8000
const VERSION = '1'
const RADIX = 36
/** Schemes that run or show something by themselves, or lead to people instead of places. */
const NOT_LED_ON = /^(?:javascript|data|vbscript|file|blob|about|view-source|mailto|tel|sms):/i

/** Makes the addresses for one message. `base` is where they lead, without a slash at the end; this server unless given. */
export function trackerOf(
  ctx: Signer,
  { projectId, campaignId, userId, messageId, base = ctx.baseUrl() }: Recipient & { base?: string },
): Tracker {
  const ids = [projectId, campaignId, userId, messageId, ctx.clock.now().getTime()]
  const stem = `${VERSION}-${ids.map((id) => id.toString(RADIX)).join('-')}`
  return {
    click(link, url) {
      if (!mayLeadTo(url)) return url
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

/** An absolute address of the web or of an app. Half a surrogate pair could not be written into another address. */
const mayLeadTo = (url: string) => /^[a-z][a-z0-9+.-]*:./i.test(url) && !NOT_LED_ON.test(url) && url.isWellFormed() && URL.canParse(url)

/** What a click's token says, when it and the destination are those that were signed. */
export function readClick(ctx: Pick<Ctx, 'secrets'>, token: string, url: string): Token | undefined {
  const [fields, signature] = cut(token)
  return ctx.secrets.isSigned(`${fields}\n${url}`, signature, 'click') && mayLeadTo(url) ? read(fields) : undefined
}

/** What a picture's token says, when it is one that was signed. */
export function readOpen(ctx: Pick<Ctx, 'secrets'>, token: string): Token | undefined {
  const [fields, signature] = cut(token)
  return ctx.secrets.isSigned(fields, signature, 'open') ? read(fields) : undefined
}

// A signature may have a hyphen in it, a field may not: seven of them stand in front.
const cut = (token: string) => {
  const [, fields = '', signature = ''] = /^([0-9a-z]+(?:-[0-9a-z]+){6})-(.*)$/s.exec(token) ?? []
  return [fields, signature] as const
}

/** The fields of a token of ours. One of another version was made by a server that is newer than this. */
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
  return { projectId, campaignId, userId, messageId, at: new Date(at), link: link || null } as Token
}
