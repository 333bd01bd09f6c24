/** Shows an email in the browser, for mail programs that do not display it well. */

import { type PublicPage, type PublicReply, publicPage } from '../../../infra/http/public-page.ts'
import { asSystem, type Ctx } from '../../../infra/runtime/ctx.ts'
import { channels } from '../../../lib/channels.ts'
import { findProject } from '../../projects/index.ts'
import { chooseTemplate, sendableTemplatesOf } from '../../templates/index.ts'
import { findLiveUsers } from '../../users/index.ts'
import type { FindSendingCampaigns } from '../sending/find-sending-campaigns.ts'
import { untracked } from '../sending/prepare.ts'
import { renderMessages } from '../sending/render-messages.ts'
import { isTestToken, readViewToken } from '../sending/view-link.ts'
import { findViewed } from './queries.ts'

// The HTML of an email is not trusted: no scripts, no frames.
const POLICY =
  "default-src 'none'; img-src https: http: data:; style-src 'unsafe-inline'; font-src https:; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"

const page = (status: number, title: string, text: string): PublicReply => ({
  status,
  type: 'text/html; charset=utf-8',
  body: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><h1>${text}</h1>`,
  headers: { 'content-security-policy': POLICY },
})

const NOT_FOUND = page(404, 'Not found', 'This message is no longer available.')
const TEST_SEND = page(200, 'Test message', 'This is the link of a test message. In a campaign, it shows the message in the browser.')

/** The pages of messages. */
export const viewPages = (findSendingCampaigns: FindSendingCampaigns): PublicPage[] => [
  publicPage({
    method: 'GET',
    path: '/v/{token}',
    summary: 'Show an email in the browser.',
    open: 'The token is signed and is valid for one message.',
    run: async (ctx, { params }) => {
      if (isTestToken(params.token ?? '')) return TEST_SEND
      const html = await htmlOf(ctx, findSendingCampaigns, params.token ?? '')
      if (html === null) return NOT_FOUND
      const headers = { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' }
      return { status: 200, type: 'text/html; charset=utf-8', body: html, headers }
    },
  }),
]

/** The HTML of an email as its user would get it now, without tracking. Null if it is not available. */
async function htmlOf(outer: Ctx, findSendingCampaigns: FindSendingCampaigns, token: string): Promise<string | null> {
  const ids = readViewToken(outer, token)
  if (!ids) return null
  const project = await findProject(outer, ids.projectId)
  const ctx = asSystem(outer, ids.projectId, project)
  const message = await findViewed(ctx, ids.messageId)
  if (!message || !channels[message.channel].isViewable) return null
  const user = (await findLiveUsers(ctx, [message.user_id])).get(message.user_id)
  const [campaign] = await findSendingCampaigns(ctx, [message.campaign_id])
  const templates = await sendableTemplatesOf(ctx, [message.campaign_id])
  const template = chooseTemplate(templates, user?.locale ?? null, ctx.project.locale, message.variant ?? 0)
  if (!user || !campaign || !template) return null
  const plain = { ...project, track_opens_email: false, link_wrap_email: false }
  const input = { id: message.id, event: message.event, campaign, user, isTransactional: false, trackingUrl: ctx.baseUrl() }
  const [result] = await renderMessages(ctx, plain, message.channel, [{ ...input, template: untracked(template) }])
  return result && 'rendered' in result ? String(result.rendered.content.html) : null
}
