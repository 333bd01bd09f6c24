import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../../infra/http/paging.ts'
import { fence, type Sql, sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { SubscriptionId, UserId } from '../../../lib/ids.ts'
import { type Channel, IdOf } from '../../../lib/shapes.ts'
import { ConsentEntryRow, type Evidence, SavedStateChange, type StateChange } from './schema.ts'

/** Adds an entry for each row of `written`. Ids are taken while the states are locked, so that entries are in the order of changes. */
const entriesOf = (
  ctx: InTx,
  written: Sql,
  { source, wording, proof = {} }: Evidence,
  proofs = sql`${JSON.stringify(proof)}::jsonb`,
) => sql`
  insert into consent_entries (id, project_id, user_id, subscription_id, state, previous_state, source, wording, proof, at)
  select w.consent_id, ${ctx.projectId}, w.user_id, w.subscription_id, w.state, w.previous_state,
         ${source}, ${wording ?? null}, ${proofs}, ${ctx.clock.now()}
  from ${written} w`

const nextEntry = sql`nextval('consent_entries_id_seq')`

/** The entries of states that were saved: with the proof of each change, if they have their own. */
const entriesOfChanges = (ctx: InTx, changes: StateChange[], evidence: Evidence) => {
  if (!changes.some(({ proof }) => proof !== undefined)) return entriesOf(ctx, sql`saved`, evidence)
  const given = sql`jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as g(user_id bigint, subscription_id bigint, proof jsonb)`
  return entriesOf(
    ctx,
    sql`(select user_id, subscription_id, state, consent_id, previous_state, proof from saved join ${given} using (user_id, subscription_id))`,
    evidence,
    sql`w.proof`,
  )
}

/** What was stored for a row `u` when the statement began. */
const stateBefore = (ctx: InTx) => sql`
  (select b.state from user_subscriptions b
   where b.project_id = ${ctx.projectId} and b.user_id = u.user_id and b.subscription_id = u.subscription_id)`

const WrittenRow = Type.Object({ ...SavedStateChange.properties, is_saved: Type.Boolean() })

/**
 * Saves states of locked users, with a consent entry for each that differs from the stored one; returns those. Each pair at most once. With
 * `keepsConfirmed`, state 1 does not replace state 2. `is_saved` is false for states that another transaction changed since the statement
 * began: they are locked, without their entry, and the previous state is not known. The next statement knows it.
 */
export const saveStates = (ctx: InTx, changes: StateChange[], evidence: Evidence, keepsConfirmed: boolean) =>
  ctx.db.many(
    WrittenRow,
    sql`with written as (
          insert into user_subscriptions as u (project_id, user_id, subscription_id, state, updated_at, consent_id)
          select ${ctx.projectId}, i.user_id, i.subscription_id, i.state, ${ctx.clock.now()}, ${nextEntry}
          from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as i(user_id bigint, subscription_id bigint, state smallint)
          order by i.user_id, i.subscription_id
          on conflict (project_id, user_id, subscription_id) do update
          set (state, updated_at, consent_id) = (
            select case when k.is_known then excluded.state else u.state end,
                   case when k.is_known then excluded.updated_at else u.updated_at end,
                   case when k.is_known then ${nextEntry} end
            from (select u.state = ${stateBefore(ctx)} as is_known ${fence}) k
          )
          where u.state <> excluded.state and not (${keepsConfirmed}::boolean and u.state = 2 and excluded.state = 1)
          returning u.user_id, u.subscription_id, u.state, u.consent_id, ${stateBefore(ctx)} as previous_state
        ), saved as (
          select user_id, subscription_id, state, consent_id, previous_state from written where consent_id is not null
        ), entered as (${entriesOfChanges(ctx, changes, evidence)})
        select w.user_id, w.subscription_id, w.state, w.previous_state, s.default_state, s.requires_confirmation,
               w.consent_id is not null as is_saved
        from written w
        join subscriptions s on s.id = w.subscription_id and s.project_id = ${ctx.projectId}`,
  )

/** Subscribes the users without a stored state. Returns them. */
export const insertSubscribed = (ctx: InTx, userIds: UserId[], subscriptionIds: SubscriptionId[], evidence: Evidence) =>
  ctx.db.many(
    SavedStateChange,
    sql`with written as (
          insert into user_subscriptions (project_id, user_id, subscription_id, state, updated_at, consent_id)
          select ${ctx.projectId}, u.id, s.id, 1, ${ctx.clock.now()}, ${nextEntry}
          from unnest(${userIds}::bigint[]) as u(id)
          cross join (select id from subscriptions where project_id = ${ctx.projectId} and id = any(${subscriptionIds}::bigint[])) s
          order by u.id, s.id
          on conflict (project_id, user_id, subscription_id) do nothing
          returning user_id, subscription_id, state, consent_id, null::smallint as previous_state
        ), entered as (${entriesOf(ctx, sql`written`, evidence)})
        select w.user_id, w.subscription_id, w.state, w.previous_state, s.default_state, s.requires_confirmation
        from written w
        join subscriptions s on s.id = w.subscription_id and s.project_id = ${ctx.projectId}`,
  )

/** A channel that messages can reach a user on again. */
type LiftedChannel = { user_id: UserId; channel: Channel }

/**
 * Adds an entry for each subscription type of these channels, with the state that the user has, for users whose addresses are no longer
 * suppressed as `erased`.
 */
export const insertSignUps = (ctx: InTx, lifted: LiftedChannel[]) =>
  ctx.db.run(
    sql`insert into consent_entries (id, project_id, user_id, subscription_id, state, previous_state, source, proof, at)
        select ${nextEntry}, ${ctx.projectId}, l.user_id, s.id, coalesce(u.state, s.default_state), u.state, 'sign_up', '{"lifted": "erased"}'::jsonb,
               ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(lifted)}::jsonb) as l(user_id bigint, channel text)
        join subscriptions s on s.project_id = ${ctx.projectId} and s.channel = l.channel
        left join user_subscriptions u on u.project_id = ${ctx.projectId} and u.user_id = l.user_id and u.subscription_id = s.id
        order by l.user_id, s.id`,
  )

/** A state that an import stored, at the latest at this instant. */
export type Imported = { user_id: UserId; subscription_id: SubscriptionId; at: Date }

const ImportedRow = Type.Object({ user_id: IdOf<UserId>(), subscription_id: IdOf<SubscriptionId>() })

/** Deletes states that an import stored and that have not changed since, and the requests to confirm them. Returns them. */
export const deleteImported = (ctx: InTx, imported: Imported[]) =>
  ctx.db.many(
    ImportedRow,
    sql`with given as (
          select * from jsonb_to_recordset(${JSON.stringify(imported)}::jsonb) as i(user_id bigint, subscription_id bigint, at timestamptz)
        ), deleted as (
          delete from user_subscriptions u
          using given g, consent_entries c
          where u.project_id = ${ctx.projectId} and u.user_id = g.user_id and u.subscription_id = g.subscription_id
            and u.user_id = any(${imported.map(({ user_id }) => user_id)}::bigint[])
            and u.state = 1 and u.updated_at <= g.at
            and c.project_id = ${ctx.projectId} and c.id = u.consent_id and c.source = 'import'
          returning u.user_id, u.subscription_id, c.wording
        ), asked as (
          delete from confirmations q using deleted d
          where q.project_id = ${ctx.projectId} and q.user_id = d.user_id and q.subscription_id = d.subscription_id
        ), entered as (
          insert into consent_entries (id, project_id, user_id, subscription_id, state, previous_state, source, wording, proof, at)
          select ${nextEntry}, ${ctx.projectId}, d.user_id, d.subscription_id, s.default_state, 1, 'import', d.wording, '{"undone": true}',
                 ${ctx.clock.now()}
          from deleted d
          join subscriptions s on s.project_id = ${ctx.projectId} and s.id = d.subscription_id
        )
        select user_id, subscription_id from deleted`,
  )

const OwnConsentRow = Type.Object({ user_id: IdOf<UserId>() })

/** The users among these with consent entries that are not from an import. */
export const usersWithConsent = (ctx: ProjectCtx, ids: UserId[]) =>
  ctx.db.many(
    OwnConsentRow,
    sql`select i.id as user_id
        from unnest(${ids}::bigint[]) as i(id)
        cross join lateral (
          select count(*) as entries from consent_entries c
          where c.project_id = ${ctx.projectId} and c.user_id = i.id and c.source <> 'import'
        ) found
        where found.entries > 0`,
  )

/**
 * Moves states of merged users to the users they were merged into, whose own state wins, except that an explicit 0 on either side stays 0
 * (D-USER-1). Of several users merged into one, the lowest state counts. Consent entries move along, and the merge adds one, because the
 * last entry always belongs to the stored state. The users are locked: no other transaction changes their states meanwhile.
 */
export const mergeSubscriptions = (ctx: InTx, pairs: { from_id: UserId; into_id: UserId }[]) =>
  ctx.db.run(
    sql`with pairs as (
          select from_id, into_id
          from unnest(${pairs.map((pair) => pair.from_id)}::bigint[], ${pairs.map((pair) => pair.into_id)}::bigint[]) as m(from_id, into_id)
        ), moved as (
          delete from user_subscriptions u
          using pairs m
          where u.project_id = ${ctx.projectId} and u.user_id = m.from_id and u.user_id = any(${pairs.map((pair) => pair.from_id)}::bigint[])
          returning m.from_id, m.into_id, u.subscription_id, u.state, u.updated_at
        ), history as (
          update consent_entries e
          set user_id = m.into_id
          from pairs m
          where e.project_id = ${ctx.projectId} and e.user_id = m.from_id and e.user_id = any(${pairs.map((pair) => pair.from_id)}::bigint[])
        ), given as (
          select into_id, subscription_id, min(state) as state, max(updated_at) as updated_at, jsonb_agg(from_id order by from_id) as from_ids
          from moved
          group by into_id, subscription_id
        ), written as (
          insert into user_subscriptions as u (project_id, user_id, subscription_id, state, updated_at, consent_id)
          select ${ctx.projectId}, into_id, subscription_id, state, updated_at, ${nextEntry}
          from given
          order by into_id, subscription_id
          on conflict (project_id, user_id, subscription_id) do update
          set state = case when excluded.state = 0 then 0 else u.state end,
              updated_at = case when excluded.state = 0 and u.state <> 0 then excluded.updated_at else u.updated_at end,
              consent_id = ${nextEntry}
          returning u.user_id, u.subscription_id, u.state, u.consent_id, ${stateBefore(ctx)} as previous_state
        )
        insert into consent_entries (id, project_id, user_id, subscription_id, state, previous_state, source, proof, at)
        select w.consent_id, ${ctx.projectId}, w.user_id, w.subscription_id, w.state, w.previous_state,
               'merge', jsonb_build_object('merged_user_ids', g.from_ids), ${ctx.clock.now()}
        from written w
        join given g on g.into_id = w.user_id and g.subscription_id = w.subscription_id`,
  )

const IdRow = Type.Object({ user_id: IdOf<UserId>() })

/** Deletes the states, consent entries and confirmation requests of these users. Returns the number of entries. */
export const eraseSubscriptions = async (ctx: InTx, userIds: UserId[]): Promise<number> => {
  const entries = await ctx.db.many(
    IdRow,
    sql`with states as (
          delete from user_subscriptions where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[])
        ), asked as (
          delete from confirmations where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[])
        )
        delete from consent_entries where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[]) returning user_id`,
  )
  return entries.length
}

export const consentListing = listing({
  resource: 'consents',
  sorts: { id: { column: sql`id`, type: 'bigint' } },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`source`, sql`wording`],
  searchedFields: 'source, wording',
})

/** The consent entries of a user, latest first. */
export const listConsents = (ctx: ProjectCtx, userId: UserId, page: PageRequest): Promise<PageOf<ConsentEntryRow>> =>
  pageOf(ctx, ConsentEntryRow, consentListing, page, {
    select: sql`id, subscription_id, state, previous_state, source, wording, proof, at`,
    from: sql`consent_entries`,
    where: sql`project_id = ${ctx.projectId} and user_id = ${userId}`,
  })

const Restorable = Type.Object({
  user_id: IdOf<UserId>(),
  subscription_id: IdOf<SubscriptionId>(),
  state: SavedStateChange.properties.state,
})

/**
 * Text types that a user unsubscribed from together with everything else, by STOP or on a page, and that did not change since, with the
 * state before. After a merge they are not included: it is unknown which of the two users unsubscribed.
 */
export const unsubscribedTextTypes = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.many(
    Restorable,
    sql`select u.user_id, u.subscription_id, coalesce(e.previous_state, s.default_state) as state
        from user_subscriptions u
        cross join lateral (
          select c.previous_state, c.proof from consent_entries c where c.id = u.consent_id and c.project_id = ${ctx.projectId} offset 0
        ) e
        join subscriptions s on s.id = u.subscription_id and s.project_id = ${ctx.projectId}
        where u.project_id = ${ctx.projectId} and u.user_id = any(${userIds}::bigint[]) and u.state = 0
          and s.channel = 'text' and e.proof @> '{"everything": true}' and coalesce(e.previous_state, s.default_state) <> 0`,
  )
