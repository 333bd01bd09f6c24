/** A mail in the browser, for those whose mail program mangles it. */

import { type PublicPage, type PublicReply, publicPage } from '../../../infra/http/public-page.ts'
import { asSystem, type Ctx } from '../../../infra/runtime/ctx.ts'
import { findProject } from '../../projects/index.ts'
import { chooseTemplate, sendableTemplatesOf } from '../../templates/index.ts'
import { findLiveUsers } from '../../users/index.ts'
import type { FindSendingCampaigns } from '../sending/find-sending-campaigns.ts'
import { render } from '../sending/render.ts'
import { readViewToken } from '../sending/view-link.ts'
import { findViewed } from './queries.ts'

// A mail is somebody else's HTML: nothing in it runs, and nothing frames it.
const POLICY =
  "default-src 'none'; img-src https: http: data:; style-src 'unsafe-inline'; font-src https:; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"

const NOT_HERE: PublicReply = {
  status: 404,
  type: 'text/html; charset=utf-8',
  body: '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Not found</title><h1>This message is no longer here.</h1>',
  headers: { 'content-security-policy': POLICY },
}

/** The pages of messages. */
export const viewPages = (findSendingCampaigns: FindSendingCampaigns): PublicPage[] => [
  publicPage({
    method: 'GET',
    path: '/v/{token}',
    summary: 'A mail in the browser.',
    open: 'The token is signed and names one message.',
    run: async (ctx, { params }) => {
      const html = await viewed(ctx, findSendingCampaigns, params.token ?? '')
      if (html === null) return NOT_HERE
      const headers = { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' }
      return { status: 200, type: 'text/html; charset=utf-8', body: html, headers }
    },
  }),
]

/** The mail as its person would get it now, without counting anything. */
async function viewed(outer: Ctx, findSendingCampaigns: FindSendingCampaigns, token: string): Promise<string | null> {
  const named = readViewToken(outer, token)
  if (!named) return null
  const project = await findProject(outer, named.projectId)
  const ctx = asSystem(outer, named.projectId, project)
  const message = await findViewed(ctx, named.messageId)
  if (message?.channel !== 'email') return null
  const user = (await findLiveUsers(ctx, [message.user_id])).get(message.user_id)
  const [campaign] = await findSendingCampaigns(ctx, [message.campaign_id])
  const templates = await sendableTemplatesOf(ctx, [message.campaign_id])
  const template = chooseTemplate(templates, user?.locale ?? null, ctx.project.locale, message.variant ?? 0)
  if (!user || !campaign || !template) return null
  const untracked = { ...project, track_opens_email: false, link_wrap_email: false }
  const prepared = { template, content: template.content, links: null }
  const made = render(ctx, { project: untracked, base: ctx.baseUrl() }, message, prepared, { campaign, user })
  return 'problem' in made ? null : String(made.rendered.content.html)
}
