import { expect, test } from 'vitest'
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
