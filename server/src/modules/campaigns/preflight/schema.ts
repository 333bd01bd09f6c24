import { type Static, Type } from 'typebox'
import type { CampaignId, PreflightId, UserId } from '../../../lib/ids.ts'
import { Exact, IdOf, Instant, Nullable, OneOf, Timestamp } from '../../../lib/shapes.ts'
import { VariantName } from '../../templates/index.ts'

const State = OneOf(['running', 'finished'] as const)
const WouldBe = OneOf(['queued', 'skipped', 'failed'] as const, { description: 'What the message would become; `reason` says why.' })
const Reason = Nullable(Type.String())
const ProblemKind = OneOf(['render_failed', 'empty_variable', 'no_template'] as const)

/** How many people would come to what. */
const Count = Type.Object({ state: WouldBe, reason: Reason, people: Type.Integer() })
export type Count = Static<typeof Count>

/** What is wrong with a template for some people. */
const Problem = Type.Object({
  locale: Nullable(Type.String()),
  variant: Type.Integer(),
  kind: ProblemKind,
  message: Type.String(),
  people: Type.Integer(),
  user_ids: Type.Array(IdOf<UserId>()),
})
export type Problem = Static<typeof Problem>

const columns = {
  id: IdOf<PreflightId>(),
  campaign_id: IdOf<CampaignId>(),
  state: State,
  people_total: Type.Integer({ description: 'Users of the lists; those in several are counted several times until it is finished.' }),
  people_done: Type.Integer(),
}

export const PreflightRow = Type.Object({
  ...columns,
  done_to: Type.Unsafe<UserId>(Type.Integer()),
  counts: Type.Array(Count),
  problems: Type.Array(Problem),
  created_at: Instant,
  finished_at: Nullable(Instant),
})
export type PreflightRow = Static<typeof PreflightRow>

/** A rehearsal of a whole audience. */
export const Preflight = Exact({
  ...columns,
  counts: Type.Array(Exact({ state: WouldBe, reason: Reason, people: Type.Integer() })),
  problems: Type.Array(
    Exact({
      locale: Nullable(Type.String({ description: 'The locale of the template; null when there is none.' })),
      variant: VariantName,
      kind: ProblemKind,
      message: Type.String(),
      people: Type.Integer({ description: 'How many users it is about.' }),
      users: Type.Array(Exact({ id: IdOf<UserId>(), external_id: Type.String() }), { description: 'Some of them.' }),
    }),
    { description: 'The first 100 kinds of problem, with at most 100 users in all.' },
  ),
  created_at: Timestamp,
  finished_at: Nullable(Timestamp),
})
export type Preflight = Static<typeof Preflight>
