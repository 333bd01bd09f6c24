/** Sending domains whose records were found. */
import { expect } from 'vitest'
import { sql } from '../src/infra/postgres/db.ts'
import type { DomainId } from '../src/lib/ids.ts'
import type { World } from './world.ts'

/** Adds a sending domain to a project as if its records had been found: emails from it are signed, and marketing may be sent. */
export async function verifiedDomain(w: Pick<World, 'post' | 'db' | 'ctx' | 'projectId'>, sending_domain: string): Promise<DomainId> {
  const { status, text, body } = await w.post('/api/client/domains', { sending_domain })
  expect(status, text).toBe(201)
  await w.db.run(
    sql`update domains set sending_verified_at = ${w.ctx.clock.now()}, next_check_at = '2100-01-01' where project_id = ${w.projectId} and id = ${body.id}`,
  )
  await w.db.run(sql`update dkim_keys set state = 'active' where project_id = ${w.projectId} and domain_id = ${body.id}`)
  return body.id
}
