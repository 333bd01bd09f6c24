import { Type } from 'typebox'
import { fence, sql } from '../../../infra/postgres/db.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { Count } from '../../../lib/shapes.ts'

/** A bounce that counts towards a suppression: of so many since a time, on different days (UTC) or not. */
export type CountedBounce = { address_hash: string; label: string; since: Date; is_by_day: boolean }

const Counted = Type.Object({ address_hash: Type.String(), bounces: Count })

export const insertBounces = (ctx: InTx, bounces: readonly CountedBounce[]) =>
  ctx.db.run(
    sql`insert into soft_bounces (project_id, address_hash, label, bounced_at)
        select ${ctx.projectId}, b.*, ${ctx.clock.now()}
        from unnest(${bounces.map(({ address_hash }) => address_hash)}::text[], ${bounces.map(({ label }) => label)}::text[]) as b`,
  )

/** How often each of these addresses bounced with this label since then, in order. */
export const countBounces = (ctx: InTx, bounces: readonly CountedBounce[]) =>
  ctx.db.many(
    Counted,
    sql`select b.address_hash, n.bounces
        from unnest(${bounces.map(({ address_hash }) => address_hash)}::text[], ${bounces.map(({ label }) => label)}::text[],
                    ${bounces.map(({ since }) => since)}::timestamptz[], ${bounces.map(({ is_by_day }) => is_by_day)}::boolean[])
             with ordinality as b(address_hash, label, since, is_by_day, place)
        cross join lateral (
          select case when b.is_by_day then count(distinct (bounced_at at time zone 'UTC')::date) else count(*) end as bounces
          from soft_bounces
          where project_id = ${ctx.projectId} and address_hash = b.address_hash and label = b.label and bounced_at > b.since ${fence}
        ) n
        order by b.place`,
  )

/** Deletes some of the bounces that are too old to count. */
export const purgeBounces = (ctx: InTx, before: Date, limit: number) =>
  ctx.db.run(
    sql`delete from soft_bounces
        where ctid = any(array(select ctid from soft_bounces
                               where project_id = ${ctx.projectId} and bounced_at < ${before}
                               order by bounced_at
                               limit ${limit}
                               for update skip locked))`,
  )

/** Locks the bounces of addresses. */
export const lockBounces = (ctx: InTx, addressHashes: string[]) =>
  ctx.db.run(
    sql`select from soft_bounces
        where project_id = ${ctx.projectId} and address_hash = any(${addressHashes}::text[])
        order by address_hash, label, bounced_at, id
        for update`,
  )

/** Forgets the bounces of addresses. */
export const deleteBounces = (ctx: InTx, addressHashes: string[]) =>
  ctx.db.run(sql`delete from soft_bounces where project_id = ${ctx.projectId} and address_hash = any(${addressHashes}::text[])`)

/** Forgets the bounces of the address of a suppression. */
export const deleteBouncesOf = (ctx: InTx, suppressionId: number) =>
  ctx.db.run(
    sql`delete from soft_bounces
        where project_id = ${ctx.projectId}
          and address_hash = (select address_hash from suppressions where project_id = ${ctx.projectId} and id = ${suppressionId} and channel = 'email')`,
  )
