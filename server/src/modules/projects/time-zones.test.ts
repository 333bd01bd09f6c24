import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { select } from '../../../test/select.ts'
import { world } from '../../../test/world.ts'

const MIGRATION = readFileSync(new URL('../../../migrations/0115_time_zones_of_projects.sql', import.meta.url), 'utf8')

const offsetIn = (timeZone: string) =>
  new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).format(new Date('2026-07-01T00:00Z'))

test('a project that was stored with an abbreviation has the zone that it stood for', async () => {
  await using w = await world()
  const path = `/api/client/projects/${w.projectId}`
  for (const name of ['IST', 'pst', 'BST', 'AET', 'VST']) {
    await select(w, 'update projects set timezone = $1 where id = $2', [name, w.projectId])
    await select(w, MIGRATION)
    const read = await w.get(path, { key: w.keys.organisation })
    expect(read.status, read.text).toBe(200)
    const { timezone } = read.body
    expect(offsetIn(timezone), name).toBe(offsetIn(name))
    expect((await w.patch(path, { timezone }, { key: w.keys.organisation })).status, timezone).toBe(200)
  }
  expect((await w.patch(path, { timezone: 'IST' }, { key: w.keys.organisation })).body.error.code).toBe('parameter_invalid_format')
})
