import { type PublicPage, type PublicReply, type PublicRequest, publicPage } from '../../infra/http/public-page.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { detectBot } from './bot-detection/detect-bot.ts'
import { deeplinkPages } from './deeplinks/pages.ts'
import type { EngagementBuffer } from './engagement/buffer.ts'
import { notFound } from './not-found.ts'
import type { Engagement } from './schema.ts'
import { readClick, readOpen, type Token } from './tracker.ts'

/** 43 bytes: one transparent dot. */
const DOT = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')

/**
 * Neither page asks the database. Nobody keeps what they answer, so that the next look is seen too, and the site that a link
 * leads to is not told in which mailbox it was clicked.
 */
const HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow' }

/** What links and pictures in messages lead to, on whatever host they are asked for. */
export const trackingPages = (recorder: Pick<EngagementBuffer, 'put'>): PublicPage[] => [
  publicPage({
    method: 'GET',
    path: '/c/{token}',
    summary: 'Follow a link of a message.',
    open: 'The signature in the address covers the message, the link and where it leads.',
    unlimited: true,
    run: async (ctx, call) => click(ctx, recorder, call),
  }),
  publicPage({
    method: 'GET',
    path: '/o/{token}.gif',
    summary: 'The picture that tells of an open.',
    open: 'The signature in the address covers the message.',
    unlimited: true,
    run: async (ctx, call) => open(ctx, recorder, call),
  }),
  ...deeplinkPages,
]

function click(ctx: Ctx, recorder: Pick<EngagementBuffer, 'put'>, call: PublicRequest): PublicReply {
  const url = call.query.get('u') ?? ''
  const token = readClick(ctx, call.params.token ?? '', url)
  if (!token) return notFound()
  see(ctx, recorder, call, token, 'click', url)
  // Written anew, so that nothing but an address can come into the header.
  return { status: 302, headers: { ...HEADERS, location: new URL(url).href } }
}

function open(ctx: Ctx, recorder: Pick<EngagementBuffer, 'put'>, call: PublicRequest): PublicReply {
  const token = readOpen(ctx, call.params.token ?? '')
  if (!token) return notFound()
  see(ctx, recorder, call, token, 'open', null)
  return { status: 200, type: 'image/gif', body: DOT, headers: HEADERS }
}

function see(
  ctx: Ctx,
  recorder: Pick<EngagementBuffer, 'put'>,
  { method, headers }: PublicRequest,
  token: Token,
  kind: Engagement['kind'],
  url: string | null,
) {
  // Who asks for the head alone looks whether there is something, and sees nothing.
  if (method === 'HEAD') return
  const at = ctx.clock.now()
  const visit = { kind, userAgent: headers['user-agent'] ?? '', headers, sinceSentMs: at.getTime() - token.at.getTime() }
  recorder.put(token.projectId, {
    kind,
    user_id: token.userId,
    campaign_id: token.campaignId,
    message_id: token.messageId,
    link: token.link,
    url,
    at,
    ...detectBot(visit),
  })
}
