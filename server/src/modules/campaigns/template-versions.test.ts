/** What templates contained before (D-TPL-5). */
import { expect, test } from 'vitest'
import { blastTo, CAMPAIGNS, pathOf } from '../../../test/blasts.ts'
import { member } from '../../../test/members.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import { keepVersion } from '../templates/index.ts'

const content = (subject: string) => ({ from: 'shop@example.com', subject, html: '<p>Hi <a href="{{ unsubscribe_url }}">x</a></p>' })

async function saved(w: World, path: string, ...subjects: string[]) {
  for (const subject of subjects) {
    w.advance(1000)
    const reply = await w.put(path, content(subject))
    expect(reply.status, reply.text).toBe(200)
  }
}

const numbers = async (w: World, path: string) =>
  (await w.get(`${path}/versions`)).body.results.map(({ number }: { number: number }) => number)

test('a template can be read as it was, and restored', async () => {
  await using w = await world()
  const campaign = await blastTo(w, [])
  const path = `${pathOf(campaign)}/templates/de`
  await saved(w, path, 'First', 'Second', 'Second', 'Third')
  const { results } = (await w.get(`${path}/versions`)).body
  expect(results).toMatchObject([
    { number: 3, saved_at: w.clock.now().toISOString(), saved_by: { type: 'key', name: 'admin' } },
    { number: 2 },
    { number: 1 },
  ])
  expect((await w.get(`${path}/versions/1`)).body).toMatchObject({ number: 1, data: content('First') })
  const restored = await w.post(`${path}/versions/1/restore`)
  expect([restored.status, restored.body.data.subject]).toEqual([200, 'First'])
  expect((await w.get(path)).headers.etag).toBe(restored.headers.etag)
  expect(await numbers(w, path)).toEqual([4, 3, 2, 1])
  expect((await w.get('/api/client/audit?limit=1')).body.results[0]).toMatchObject({ action: 'template.restored' })
  for (const missing of [
    `${path}/versions/9`,
    `${path}/versions/2147483648`,
    `${path}/versions/9/restore`,
    `${pathOf(campaign)}/templates/fr/versions`,
  ]) {
    expect((await w.request(missing.endsWith('restore') ? 'POST' : 'GET', missing)).status).toBe(404)
  }
  // A copy begins with what it was copied with, and a deleted template takes its versions along.
  const copy = (await w.post(`${pathOf(campaign)}/duplicate`)).body
  expect((await w.get(`${CAMPAIGNS}/${copy.id}/templates/de/versions/1`)).body.data.subject).toBe('First')
  expect((await w.delete(path)).status).toBe(204)
  await saved(w, path, 'Anew')
  expect(await numbers(w, path)).toEqual([1])
})

test('a version that is restored soon after an edit keeps the version that it replaces', async () => {
  await using w = await world()
  const path = `${pathOf(await blastTo(w, []))}/templates/en`
  const headers = { ...(await member(w, 'admin')).headers, 'carillon-project': String(w.projectId) }
  const by = async (subject: string) => expect((await w.put(path, content(subject), { key: null, headers })).status).toBe(200)
  await by('Begun')
  w.advance('1 hour')
  await by('Finished')
  expect(await numbers(w, path)).toEqual([3, 2, 1])
  w.advance('1 minute')
  const restored = await w.post(`${path}/versions/1/restore`, undefined, { key: null, headers })
  expect(restored.status, restored.text).toBe(200)
  expect(await numbers(w, path)).toEqual([4, 3, 2, 1])
  expect((await w.get(`${path}/versions/3`)).body.data.subject).toBe('Finished')
})

test('MJML that replaces HTML is a version of its own, also soon after an edit', async () => {
  await using w = await world()
  const path = `${pathOf(await blastTo(w, []))}/templates/en`
  const headers = { ...(await member(w, 'admin')).headers, 'carillon-project': String(w.projectId) }
  const mjml = '<mjml><mj-body><mj-raw><a href="{{ unsubscribe_url }}">x</a></mj-raw></mj-body></mjml>'
  const { html, ...rest } = content('Hello')
  for (const body of [{ html }, { mjml }, { mjml: `${mjml} ` }, { html }]) {
    const reply = await w.put(path, { ...rest, ...body }, { key: null, headers })
    expect(reply.status, reply.text).toBe(200)
  }
  expect(await numbers(w, path)).toEqual([4, 3, 2, 1])
  expect((await w.get(`${path}/versions/2`)).body.data.html).toBe(html)
})

test('the saves of an editor are one version, until somebody else saves or five minutes have passed', async () => {
  await using w = await world()
  const path = `${pathOf(await blastTo(w, []))}/templates/en`
  const { id } = (await w.get(path)).body
  const by = (memberId: number, subject: string) =>
    inTx({ ...w.ctx, actor: { kind: 'member', id: memberId, name: `m${memberId}` } } as typeof w.ctx & Ctx, (ctx) =>
      keepVersion(ctx, id, { subject }),
    )
  await by(1, 'H')
  await by(1, 'He')
  w.advance('4 minutes')
  await by(1, 'Hell')
  expect(await numbers(w, path)).toEqual([2, 1])
  await by(2, 'Help')
  await by(1, 'Hello')
  w.advance('5 minutes')
  await by(1, 'Hello!')
  expect(await numbers(w, path)).toEqual([5, 4, 3, 2, 1])
  expect((await w.get(`${path}/versions/2`)).body).toMatchObject({
    data: { subject: 'Hell' },
    saved_by: { type: 'member', id: 1, name: 'm1' },
  })
  // The oldest goes when there are more than fifty.
  for (let at = 0; at < 50; at++) await by(3 + at, `Version ${at}`)
  expect(await numbers(w, path)).toEqual(Array.from({ length: 50 }, (_, at) => 55 - at))
})

test('another spelling of a locale is the same template', async () => {
  await using w = await world()
  const campaign = await blastTo(w, [])
  const templates = `${pathOf(campaign)}/templates`
  await saved(w, `${templates}/en-AU`, 'First')
  await saved(w, `${templates}/en_au`, 'Second')
  const localesOf = async () => (await w.get(templates)).body.results.map(({ locale }: { locale: string }) => locale)
  expect(await localesOf()).toEqual(['en', 'en-AU'])
  const file = { content_type: 'text/plain', content: Buffer.from('x').toString('base64') }
  expect((await w.put(`${templates}/EN-au/attachments/x.txt`, file)).status).toBe(200)
  for (const spelling of ['en-AU', 'en_au', 'EN-au']) {
    expect((await w.get(`${templates}/${spelling}`)).body, spelling).toMatchObject({ locale: 'en-AU', data: { subject: 'Second' } })
    expect(await numbers(w, `${templates}/${spelling}`), spelling).toEqual([2, 1])
    expect((await w.get(`${templates}/${spelling}/attachments`)).body.results, spelling).toHaveLength(1)
    expect((await w.get(`/api/client/templates?locale=${spelling}`)).body.results, spelling).toMatchObject([{ locale: 'en-AU' }])
  }
  const wrong = await w.get('/api/client/templates?locale=english!')
  expect([wrong.status, wrong.body.error?.param]).toEqual([400, 'locale'])
  expect((await w.delete(`${templates}/en-au`)).status).toBe(204)
  expect(await localesOf()).toEqual(['en'])
})

test('of two templates whose locales differ in their spelling only, each is named by its own', async () => {
  await using w = await world()
  const campaign = await blastTo(w, [])
  const templates = `${pathOf(campaign)}/templates`
  await saved(w, `${templates}/de-DE`, 'First')
  // An earlier release created a template for each spelling.
  await w.db.run(
    sql`insert into campaign_templates (project_id, campaign_id, locale, variant, data, compiled, created_at, updated_at)
        select project_id, campaign_id, 'de-de', variant, data, compiled, created_at, updated_at from campaign_templates
        where project_id = ${w.projectId} and locale = 'de-DE'`,
  )
  const file = { content_type: 'text/plain', content: Buffer.from('x').toString('base64') }
  await saved(w, `${templates}/de-de`, 'Second')
  expect((await w.put(`${templates}/de-de/attachments/x.txt`, file)).status).toBe(200)
  const subjectOf = async (spelling: string) => (await w.get(`${templates}/${spelling}`)).body.data.subject
  expect([await subjectOf('de-DE'), await subjectOf('de-de'), await subjectOf('DE-de')]).toEqual(['First', 'Second', 'First'])
  expect((await w.get(`${templates}/de-DE/attachments`)).body.results).toEqual([])
  expect((await w.get(`${templates}/de-de/versions/1`)).body.data.subject).toBe('Second')
  expect((await w.delete(`${templates}/de-de`)).status).toBe(204)
  expect((await w.get(templates)).body.results).toMatchObject([{ locale: 'en' }, { locale: 'de-DE', data: { subject: 'First' } }])
})
