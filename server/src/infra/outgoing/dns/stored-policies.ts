/** MTA-STS policies in the database, for all processes and projects. */
import { Type } from 'typebox'
import { Instant } from '../../../lib/shapes.ts'
import { SECOND_MS } from '../../../lib/times.ts'
import { type Db, sql } from '../../postgres/db.ts'
import type { KeptPolicy, PolicyStore } from './policies.ts'

const Row = Type.Object({ policy: Type.Unsafe<KeptPolicy['policy']>({ type: 'object' }), fetched_at: Instant })

/** Expired policies that are deleted whenever one is saved, so that there are never many. */
const DELETED_AT_ONCE = 10

export const storedPolicies = (db: Pick<Db, 'first' | 'run'>): PolicyStore => ({
  async find(domain) {
    const row = await db.first(Row, sql`select policy, fetched_at from mta_sts_policies where domain = ${domain}`)
    return row ? { policy: row.policy, fetchedAt: row.fetched_at } : null
  },
  async save(domain, { policy, fetchedAt }) {
    const expiresAt = new Date(fetchedAt.getTime() + policy.maxAgeS * SECOND_MS)
    await db.run(
      sql`with expired as (
            select domain from mta_sts_policies
            where expires_at < ${fetchedAt} and domain <> ${domain}
            order by expires_at
            limit ${DELETED_AT_ONCE}
            for update skip locked
          ), deleted as (
            delete from mta_sts_policies p using expired e where p.domain = e.domain
          )
          insert into mta_sts_policies (domain, policy, fetched_at, expires_at)
          values (${domain}, ${JSON.stringify(policy)}::jsonb, ${fetchedAt}, ${expiresAt})
          on conflict (domain) do update
            set policy = excluded.policy, fetched_at = excluded.fetched_at, expires_at = excluded.expires_at
            where mta_sts_policies.fetched_at < excluded.fetched_at`,
    )
  },
})
