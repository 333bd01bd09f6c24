/** Files of templates (D-TPL-4), observed at a relay, in the sandbox, in previews and over the API. */
import { describe, expect, test, vi } from 'vitest'
import { blastTo, CAMPAIGNS, listOf, pathOf, schedule, subscriptionTo, write } from '../../../test/blasts.ts'
import { sendOver } from '../../../test/mailing.ts'
import { openRelay } from '../../../test/relay.ts'
import { SOON } from '../../../test/wait.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import { Count } from '../../lib/shapes.ts'
import { removeTemplateAttachment } from './template-attachments.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const PDF = { content_type: 'application/pdf', content: base64('%PDF-1.7 terms') }
const LOGO = { content_type: 'image/png', content: base64('PNG logo'), content_id: 'logo' }

const placeOf = (campaign: { id: number }, locale = 'en') => `${pathOf(campaign)}/templates/${locale}/attachments`

/** A draft of a blast with an inline image and an attachment. */
async function illustrated(w: World, ...names: string[]) {
  const campaign = await blastTo(w, [await listOf(w, ...names)])
  const html = '<p><img src="cid:logo" alt=""> <a href="{{ view_url }}">View</a></p>'
  expect((await w.put(`${pathOf(campaign)}/templates/en`, { from: 'shop@example.com', subject: 'Hi', html })).status).toBe(200)
  for (const [name, file] of Object.entries({ 'logo.png': LOGO, 'Terms März.pdf': PDF })) {
    const put = await w.put(`${placeOf(campaign)}/${encodeURIComponent(name)}`, file)
    expect(put.status, put.text).toBe(200)
  }
  return campaign
}

const stored = (w: World) => w.db.value(Count, sql`select count(*) as count from template_attachments where project_id = ${w.projectId}`)

const statementsWaiting = (w: World) =>
  w.db.value(Count, sql`select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)

describe('the files of a template', () => {
  test('are in every message of a blast', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await schedule(w, await illustrated(w, 'ana', 'bo', 'cy'))
    await w.drain()
    expect(relay.mails).toHaveLength(3)
    for (const { raw } of relay.mails) {
      expect(raw).toContain(PDF.content)
      expect(raw).toContain(LOGO.content)
      expect(raw).toContain("filename*=UTF-8''Terms%20M%C3%A4rz.pdf")
      expect(raw).toMatch(/Content-ID: <logo>\r\nContent-Disposition: inline/)
    }
  })

  test('are those of the present version', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await w.users('user1', 'user2')
    const trigger = await triggerWith(w, { 'a.txt': { content_type: 'text/plain', content: base64('first') } })
    await w.post(`${pathOf(trigger)}/trigger`, { external_id: 'user1' })
    await w.drain()
    await w.put(`${placeOf(trigger)}/a.txt`, { content_type: 'text/plain', content: base64('later') })
    await w.post(`${pathOf(trigger)}/trigger`, { external_id: 'user2' })
    await w.drain()
    const [first = '', later = ''] = relay.mails.map(({ raw }) => raw)
    expect([first.includes(base64('first')), later.includes(base64('later')), later.includes(base64('first'))]).toEqual([true, true, false])
  })

  test('are in messages by request, with those of the request; the same content id is that of the request', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const campaign = await triggerWith(w, { 'logo.png': LOGO, 'terms.pdf': PDF })
    const own = { name: 'own.png', content_type: 'image/png', content: base64('PNG own'), content_id: 'logo' }
    const user = { external_id: 'ana', email: 'ana@example.com' }
    expect((await w.post('/api/client/messages', { campaign_id: campaign.id, user, attachments: [own] })).status).toBe(202)
    await w.drain()
    const raw = relay.mails[0]?.raw ?? ''
    expect([raw.includes(PDF.content), raw.includes(own.content), raw.includes(LOGO.content)]).toEqual([true, true, false])
  })

  test('are in the preview, the test send, the source in the sandbox and the page in the browser', async () => {
    await using relay = await openRelay()
    await using w = await world()
    const campaign = await illustrated(w, 'ana')
    const { body: preview } = await w.post(`${pathOf(campaign)}/preview`, { user: 'ana' })
    expect(preview.attachments).toEqual([
      { name: 'logo.png', content_type: 'image/png', content_id: 'logo', size_bytes: 8, content: LOGO.content },
      { name: 'Terms März.pdf', content_type: 'application/pdf', content_id: null, size_bytes: 14 },
    ])
    await schedule(w, campaign)
    await w.drain()
    const [{ id }] = (await w.get('/api/client/sandbox/messages')).body.results
    const { body: kept } = await w.get(`/api/client/sandbox/messages/${id}`)
    expect([kept.source.includes(PDF.content), kept.source.includes(LOGO.content)]).toEqual([true, true])
    const url = new URL(/href="([^"]+\/v\/[^"]+)"/.exec(kept.content.html)?.[1] ?? '')
    expect((await w.get(url.pathname)).text).toContain(`<img src="data:image/png;base64,${LOGO.content}"`)
    await sendOver(w, relay)
    const tested = await w.post(`${pathOf(campaign)}/test`, { to: ['ana', 'someone@example.com'] })
    expect(tested.body.results).toMatchObject([{ outcome: 'accepted' }, { outcome: 'accepted' }])
    for (const { raw } of relay.mails) expect([raw.includes(PDF.content), raw.includes(LOGO.content)]).toEqual([true, true])
    expect(relay.mails).toHaveLength(2)
  })

  test('are listed, read, replaced and deleted; a new version of the template keeps them', async () => {
    await using w = await world()
    const campaign = await illustrated(w, 'ana')
    const list = async () => (await w.get(placeOf(campaign), { key: w.keys.support })).body.results.map(({ name }: any) => name)
    expect(await list()).toEqual(['logo.png', 'Terms März.pdf'])
    const read = await w.get(`${placeOf(campaign)}/Terms%20M%C3%A4rz.pdf`, { key: w.keys.support })
    expect(read.body).toMatchObject({ name: 'Terms März.pdf', content: PDF.content, size_bytes: 14 })
    await w.put(`${placeOf(campaign)}/logo.png`, { ...LOGO, content: base64('a longer logo') })
    await w.put(`${pathOf(campaign)}/templates/en`, { from: 'shop@example.com', subject: 'Hi', html: '<p>New</p>' })
    expect((await w.get(placeOf(campaign))).body.results[0]).toMatchObject({ name: 'logo.png', size_bytes: 13 })
    expect((await w.delete(`${placeOf(campaign)}/logo.png`)).status).toBe(204)
    expect(await list()).toEqual(['Terms März.pdf'])
    expect((await w.delete(`${placeOf(campaign)}/logo.png`)).status).toBe(404)
    expect((await w.get(`${placeOf(campaign)}/logo.png`)).status).toBe(404)
    expect((await w.get(placeOf(campaign, 'fr'))).status).toBe(404)
    expect((await w.get(placeOf(campaign), { key: (await w.other()).keys.secret })).status).toBe(404)
  })

  test('are copied with the campaign, and deleted with their template', async () => {
    await using w = await world()
    const campaign = await illustrated(w, 'ana')
    const { body: copy } = await w.post(`${pathOf(campaign)}/duplicate`, {})
    expect((await w.get(placeOf(copy))).body.results).toHaveLength(2)
    expect(await stored(w)).toBe(4)
    expect((await w.delete(`${pathOf(campaign)}/templates/en`)).status).toBe(204)
    expect(await stored(w)).toBe(2)
    expect((await w.get(`${placeOf(copy)}/logo.png`)).body).toMatchObject({ content: LOGO.content })
  })

  test('are those of one moment in a copy that is made while one is deleted, and the copy is sent with them', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const campaign = await illustrated(w, 'ana')
    const { copying } = await inTx(w.ctx, async (ctx) => {
      await removeTemplateAttachment(ctx, { campaignId: campaign.id, locale: 'en', variant: 0 }, 'logo.png')
      // A copy that does not wait for the campaign waits here, between its templates and their files.
      await ctx.db.run(sql`lock table template_attachments in share row exclusive mode`)
      const copying = w.post(`${pathOf(campaign)}/duplicate`, {})
      await vi.waitFor(async () => expect(await statementsWaiting(w)).toBe(1), SOON)
      return { copying }
    })
    const { body: copy } = await copying
    expect((await w.get(placeOf(copy))).body.results).toMatchObject([{ name: 'Terms März.pdf' }])
    await write(w, copy, { state: 'scheduled', send_at: w.clock.now().toISOString() })
    await w.drain()
    expect(relay.mails).toHaveLength(1)
    expect(relay.mails[0]?.raw).toContain(PDF.content)
  })

  test('are at most 10, of 10 MB together, each with a content id of its own, and of emails only', async () => {
    await using w = await world()
    const campaign = await illustrated(w, 'ana')
    const put = async (name: string, change: object) => {
      const reply = await w.put(`${placeOf(campaign)}/${name}`, { ...PDF, ...change })
      return [reply.status, reply.body.error?.param]
    }
    const half = Buffer.alloc(5 * 1024 * 1024).toString('base64')
    expect(await put('1.pdf', { content: half })).toEqual([200, undefined])
    expect(await put('2.pdf', { content: half })).toEqual([422, 'content'])
    expect(await put('1.pdf', { content: half })).toEqual([200, undefined])
    expect(await put('2.png', { content_id: 'logo' })).toEqual([422, 'content_id'])
    for (let at = 2; at <= 8; at++) expect(await put(`${at}.pdf`, {})).toEqual([200, undefined])
    expect(await put('9.pdf', {})).toEqual([422, 'name'])
    expect(await put('1.pdf', {})).toEqual([200, undefined])
    const { body: text } = await w.post(CAMPAIGNS, { type: 'trigger', name: 'T', subscription_id: await subscriptionTo(w, 'text') })
    await w.put(`${pathOf(text)}/templates/en`, { body: 'Hi' })
    expect((await w.put(`${placeOf(text)}/a.pdf`, PDF)).body.error).toMatchObject({
      param: 'name',
      message: expect.stringContaining('`text`'),
    })
  })

  test.each<[string, object, string]>([
    ['base64url', { content: '__--' }, 'content'],
    ['a media type with a line break', { content_type: 'text/plain\r\nX: y' }, 'content_type'],
    ['a content id with a space', { content_id: 'a b' }, 'content_id'],
  ])('refuses %s', async (_, change, param) => {
    await using w = await world()
    const campaign = await blastTo(w, [await listOf(w, 'ana')])
    const reply = await w.put(`${placeOf(campaign)}/a.pdf`, { ...PDF, ...change })
    expect([reply.status, reply.body.error?.param], reply.text).toEqual([400, param])
    expect((await w.put(`${placeOf(campaign)}/a%0Db.pdf`, PDF)).status).toBe(400)
  })

  test('of a campaign under way take the role that may send', async () => {
    await using w = await world()
    const campaign = await triggerWith(w, { 'terms.pdf': PDF })
    const as = { key: w.keys.editor }
    expect((await w.put(`${placeOf(campaign)}/b.pdf`, PDF, as)).status).toBe(403)
    expect((await w.delete(`${placeOf(campaign)}/terms.pdf`, as)).status).toBe(403)
    await write(w, campaign, { state: 'aborted' })
  })
})

/** A running trigger campaign whose template has these files. */
async function triggerWith(w: World, files: Record<string, object>) {
  const made = await w.post(CAMPAIGNS, { type: 'trigger', name: 'Receipt', subscription_id: await subscriptionTo(w) })
  const html = '<p><img src="cid:logo" alt=""> Thanks</p>'
  await w.put(`${pathOf(made.body)}/templates/en`, { from: 'shop@example.com', subject: 'Receipt', html })
  for (const [name, file] of Object.entries(files)) expect((await w.put(`${placeOf(made.body)}/${name}`, file)).status).toBe(200)
  await write(w, made.body, { state: 'running' })
  return made.body as { id: number }
}
