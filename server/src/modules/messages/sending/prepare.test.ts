import { expect, test } from 'vitest'
import { CAMPAIGNS } from '../../../../test/blasts.ts'
import { answerOrders, order, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { world } from '../../../../test/world.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { SendableTemplate } from '../../templates/index.ts'
import { createTemplateCache } from './prepare.ts'
import type { SendingProject } from './render.ts'

const project = { link_wrap_email: false } as SendingProject
const templateOf = (id: number, html: string) =>
  ({ id, campaign_id: id, updated_at: new Date(0), content: { html }, required: [] }) as unknown as SendableTemplate

/** How many of these templates are still prepared when all have been. */
async function keptOf(templates: SendableTemplate[]): Promise<number> {
  const prepare = createTemplateCache()
  const all = () => Promise.all(templates.map((template) => prepare({} as ProjectCtx, project, 'email', template, false)))
  const first = await all()
  const again = await all()
  return again.filter((prepared, at) => prepared === first[at]).length
}

test('the small templates of five thousand projects stay prepared', async () => {
  expect(await keptOf(Array.from({ length: 5000 }, (_, id) => templateOf(id, '<p>Hello</p>')))).toBe(5000)
})

test('large templates do not fill the memory', async () => {
  const html = 'x'.repeat(1_000_000)
  expect(await keptOf(Array.from({ length: 100 }, (_, id) => templateOf(id, html)))).toBeLessThan(100)
})

test('the HTML of a template that is prepared is not read again', async () => {
  let reads = 0
  const content = {
    get html() {
      reads++
      return '<p>Hello</p>'
    },
  }
  const template = { ...templateOf(1, ''), content }
  const prepare = createTemplateCache()
  const first = await prepare({} as ProjectCtx, project, 'email', template, false)
  const before = reads
  expect(await prepare({} as ProjectCtx, project, 'email', template, false)).toBe(first)
  expect(reads).toBe(before)
})

test('`data-track` is taken out of emails whose links are not tracked, and of those with redacted values, which get no parameters', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const campaign = await answerOrders(w)
  const html = '<p><a href="https://shop.example.com/a" data-track="false">A</a> <a href="https://shop.example.com/b">B</a></p>'
  await w.put(`${CAMPAIGNS}/${campaign.id}/templates/en`, { from: 'shop@example.com', subject: 'Hi', html })
  await w.users('ana')
  await order(w, 'ana')
  await w.drain()
  await w.patch(`${CAMPAIGNS}/${campaign.id}`, { utm: { source: 's', medium: 'm', campaign: 'c' } })
  const secret = { campaign_id: campaign.id, user: { external_id: 'ana' }, data: { code: '1' }, redact: ['data.code'] }
  expect((await w.post('/api/client/messages', secret, { key: w.keys.publisher })).status).toBe(202)
  await w.drain()
  const sent = relay.mails.map(({ raw }) => raw.replaceAll('=\r\n', '').replaceAll('=3D', '='))
  expect(sent).toHaveLength(2)
  for (const raw of sent) {
    expect(raw).toContain('<a href="https://shop.example.com/a">A</a> <a href="https://shop.example.com/b">B</a>')
    expect(raw).not.toContain('data-track')
  }
})
