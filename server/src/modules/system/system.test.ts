import { describe, expect, test } from 'vitest'
import { member } from '../../../test/members.ts'
import { world } from '../../../test/world.ts'

const URL = '/api/console/system'

describe('the state of the server', () => {
  test('is for owners of the first organisation: release, schema, queues and sizes, without secrets', async () => {
    await using w = await world()
    const { headers } = await member(w, 'owner')
    await w.post('/api/client/events', [{ external_id: 'kim', name: 'arrived' }])
    const { status, body, text } = await w.get(URL, { key: null, headers })
    expect(status).toBe(200)
    expect(body.migrations).toMatchObject({ applied: body.migrations.expected, name: expect.stringMatching(/^[a-z0-9_]+$/) })
    expect(body.queues.map(({ name }: { name: string }) => name)).toEqual(['ingest', 'messages', 'mail', 'webhooks'])
    expect(body.queues[0]).toMatchObject({ waiting: 1, oldest_at: w.clock.now().toISOString() })
    expect(body.database).toMatchObject({ version: expect.stringMatching(/^\d+/), size_bytes: expect.any(Number) })
    expect(body.database.tables).toHaveLength(8)
    expect(new Set(body.database.tables.map(({ name }: { name: string }) => name)).size).toBe(8)
    expect(body.retention).toContainEqual({ setting: 'AUDIT_RETENTION_DAYS', value: w.ctx.config.AUDIT_RETENTION_DAYS })
    expect(text).not.toMatch(/postgres:|@|password|secret/i)
  })

  test('is not for owners of organisations that came later', async () => {
    await using w = await world()
    const { headers } = await member(w, 'owner', undefined, await w.other())
    const { status, body } = await w.get(URL, { key: null, headers })
    expect([status, body.error.code]).toEqual([403, 'permission_denied'])
  })
})
