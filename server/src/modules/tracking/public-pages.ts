import { type PublicPage, type PublicReply, type PublicRequest, publicPage } from '../../infra/http/public-page.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { detectBot } from './bot-detection/detect-bot.ts'
import { deeplinkPages } from './deeplinks/pages.ts'
import type { EngagementBuffer } from './engagement/buffer.ts'
import { notFound } from './not-found.ts'
import type { Engagement } from './schema.ts'
import { readClick, readOpen, type Token } from './tracker.ts'

/** A GIF with one transparent pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')

/**
 * These pages use no database. Replies are not cached, so that every request is counted, and the target of a link does not get the
 * page with the email as referrer.
 */
const HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow' }

/** The pages of tracked links and pixels, on every host. */
export const trackingPages = (buffer: Pick<EngagementBuffer, 'put'>): PublicPage[] => [
  publicPage({
    method: 'GET',
    path: '/c/{token}',
    summary: 'Follow a tracked link.',
    open: 'The signature in the URL covers the message, the link and its target.',
    essential: true,
    unlimited: true,
    run: async (ctx, call) => click(ctx, buffer, call),
  }),
  publicPage({
    method: 'GET',
    path: '/o/{token}.gif',
    summary: 'Return the tracking pixel of a message.',
    open: 'The signature in the URL covers the message.',
    essential: true,
    unlimited: true,
    run: async (ctx, call) => open(ctx, buffer, call),
  }),
  ...deeplinkPages,
]

function click(ctx: Ctx, buffer: Pick<EngagementBuffer, 'put'>, call: PublicRequest): PublicReply {
  const url = call.query.get('u') ?? ''
  const token = readClick(ctx, call.params.token ?? '', url)
  if (!token) return notFound()
  record(ctx, buffer, call, token, 'click', url)
  // Formatted again, so that only a URL can be in the header.
  return { status: 302, headers: { ...HEADERS, location: new URL(url).href } }
}

function open(ctx: Ctx, buffer: Pick<EngagementBuffer, 'put'>, call: PublicRequest): PublicReply {
  const token = readOpen(ctx, call.params.token ?? '')
  if (!token) return notFound()
  record(ctx, buffer, call, token, 'open', null)
  return { status: 200, type: 'image/gif', body: PIXEL, headers: HEADERS }
}

function record(
  ctx: Ctx,
  buffer: Pick<EngagementBuffer, 'put'>,
  { method, headers }: PublicRequest,
  token: Token,
  kind: Engagement['kind'],
  url: string | null,
) {
  // A HEAD request does not show the image or the target. A test send is read by its author.
  if (method === 'HEAD' || token.messageId === null) return
  const at = ctx.clock.now()
  const request = { kind, userAgent: headers['user-agent'] ?? '', headers, sinceSentMs: at.getTime() - token.at.getTime() }
  buffer.put(token.projectId, {
    kind,
    user_id: token.userId,
    campaign_id: token.campaignId,
    message_id: token.messageId,
    link: token.link,
    url,
    at,
    ...detectBot(request),
  })
}
