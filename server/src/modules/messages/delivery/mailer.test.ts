import { expect, test } from 'vitest'
import { world } from '../../../../test/world.ts'
import { createMailer } from './mailer.ts'

const SITE = { key: 'mx-1', label: 'example.org' }

test('that sites have all of their connections is told once a minute for each project', async () => {
  await using w = await world()
  const mailer = createMailer(async () => [])
  const elsewhere = { ...w.ctx, projectId: (await w.other()).projectId }
  const { connections } = mailer.sites(w.ctx).scheduler.limitsOf(SITE)
  expect(mailer.exceeded(w.ctx, SITE)).toBe(connections)
  w.advance('59 seconds')
  expect(mailer.exceeded(w.ctx, SITE)).toBeNull()
  expect(mailer.exceeded(w.ctx, { ...SITE, key: 'mx-2' })).toBeNull()
  expect(mailer.exceeded(elsewhere, SITE)).toBe(connections)
  w.advance('1 second')
  expect(mailer.exceeded(w.ctx, SITE)).toBe(connections)
})

test('a process knows its sites, their queues and the limits of projects once', async () => {
  await using w = await world()
  const mailer = createMailer(async () => [])
  expect(mailer.sites(w.ctx)).toBe(mailer.sites(w.ctx))
})
