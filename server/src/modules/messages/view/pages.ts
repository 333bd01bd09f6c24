/** Shows an email in the browser, for mail programs that do not display it well. */

import { type PublicPage, type PublicReply, publicPage } from '../../../infra/http/public-page.ts'
import { asSystem, type Ctx } from '../../../infra/runtime/ctx.ts'
import { channels } from '../../../lib/channels.ts'
import { findProject } from '../../projects/index.ts'
import { attachmentsOfTemplate, withInlineImages } from '../../templates/index.ts'
import type { FindSendingCampaigns } from '../sending/find-sending-campaigns.ts'
import { isTestToken, readViewToken } from '../view-link.ts'
import { renderAgain } from './render-again.ts'

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
const TEST_SEND = page(200, 'Test message', 'This link comes from a test message. In a campaign, it shows the message in the browser.')

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
  const ctx = asSystem(outer, ids.projectId, await findProject(outer, ids.projectId))
  const rendered = await renderAgain(ctx, findSendingCampaigns, ids.messageId)
  if (!rendered || !channels[rendered.channel].isViewable) return null
  const { template, content } = rendered
  const images = template.attachment_bytes > 0 ? await attachmentsOfTemplate(ctx, template.id) : []
  return withInlineImages(String(content.html), images)
}
