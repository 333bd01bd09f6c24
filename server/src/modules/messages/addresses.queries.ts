import { type Static, Type } from 'typebox'
import { fence, sql } from '../../infra/postgres/db.ts'
import { firstOfEach } from '../../infra/postgres/first-of-each.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, ProjectId, UserId } from '../../lib/ids.ts'
import { IdOf } from '../../lib/shapes.ts'

/** An address of a blast, and the user whose message goes to it. */
export type AddressHolder = { address_hash: string; user_id: UserId }

const HashRow = Type.Object({ address_hash: Type.String() })

const HolderRow = Type.Object({ address_hash: Type.String(), user_id: IdOf<UserId>() })

/**
 * Holds addresses for users, each address once. An address stays with the user who has it, unless that user’s message for the cause ended
 * without an attempt. Returns the addresses that were not held now, of which there are few.
 */
export const holdAddresses = (ctx: ProjectCtx | InTx, campaignId: CampaignId, cause: string, holders: AddressHolder[]) =>
  ctx.db.many(
    HashRow,
    sql`with wanted as materialized (
          select address_hash, user_id
          from unnest(${holders.map(({ address_hash }) => address_hash)}::uuid[], ${holders.map(({ user_id }) => user_id)}::bigint[])
               as w(address_hash, user_id)
        ), held as (
          insert into message_addresses as a (project_id, campaign_id, address_hash, user_id)
          select ${ctx.projectId}, ${campaignId}, address_hash, user_id from wanted
          order by address_hash
          on conflict (project_id, campaign_id, address_hash) do update set user_id = excluded.user_id
          where a.user_id <> excluded.user_id
            and exists (select from messages m
                        where m.project_id = a.project_id and m.user_id = a.user_id and m.cause = ${cause}
                          and m.state in ('skipped', 'aborted')
                        ${fence})
          returning a.address_hash
        )
        select address_hash from wanted except select address_hash from held`,
  )

/** The users who hold these addresses. */
export const findHolders = (ctx: ProjectCtx | InTx, campaignId: CampaignId, hashes: string[]) =>
  ctx.db.many(
    HolderRow,
    sql`select a.address_hash, a.user_id
        from unnest(${hashes}::uuid[]) as h(address_hash)
        cross join lateral (
          select address_hash, user_id from message_addresses
          where project_id = ${ctx.projectId} and campaign_id = ${campaignId} and address_hash = h.address_hash
          ${fence}
        ) a`,
  )

const CampaignKey = Type.Object({ project_id: IdOf<ProjectId>(), campaign_id: IdOf<CampaignId>() })

export type CampaignKey = Static<typeof CampaignKey>

/** The next campaigns with held addresses after one. */
export const campaignsWithAddresses = (ctx: Ctx, after: CampaignKey, limit: number) => {
  const from = sql`(project_id, campaign_id) > (${after.project_id}, ${after.campaign_id})`
  const held = firstOfEach('held', { table: sql`message_addresses`, keys: ['project_id', 'campaign_id'], from })
  return ctx.db.many(CampaignKey, sql`with recursive ${held} select project_id, campaign_id from held limit ${limit}`)
}

/** Deletes some of the held addresses of a campaign. Returns how many. */
export const forgetAddresses = (ctx: ProjectCtx, campaignId: CampaignId, limit: number) =>
  ctx.db.run(
    sql`delete from message_addresses
        where project_id = ${ctx.projectId} and campaign_id = ${campaignId}
          and address_hash = any(array(select address_hash from message_addresses
                                       where project_id = ${ctx.projectId} and campaign_id = ${campaignId}
                                       order by address_hash
                                       limit ${limit}))`,
  )
