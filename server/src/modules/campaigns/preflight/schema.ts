import { type Static, Type } from 'typebox'
import type { CampaignId, PreflightId, UserId } from '../../../lib/ids.ts'
import { Exact, IdOf, Instant, Nullable, OneOf, Timestamp } from '../../../lib/shapes.ts'
import { VariantName } from '../../templates/index.ts'

const State = OneOf(['running', 'finished'] as const)
const WouldBe = OneOf(['queued', 'skipped', 'failed'] as const, {
  description: 'The state that the message would get. `reason` says why.',
})
const Reason = Nullable(Type.String())
const ProblemKind = OneOf(['render_failed', 'empty_variable', 'no_template', 'unverified_domain'] as const, {
  description:
    '`unverified_domain`: the email is marketing, and the domain of its sender is not verified. The provider `mta` refuses the email (`failed`). With other providers, this problem is only a warning.',
})

/** The number of users for each result. */
const Count = Type.Object({ state: WouldBe, reason: Reason, people: Type.Integer() })
export type Count = Static<typeof Count>

/** A problem of a template, with some users that it affects. */
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
  people_total: Type.Integer({
    description: 'The number of users. Until the preflight is finished, users on several lists are counted several times.',
  }),
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

/** A preflight of a whole audience. */
export const Preflight = Exact({
  ...columns,
  counts: Type.Array(Exact({ state: WouldBe, reason: Reason, people: Type.Integer() })),
  problems: Type.Array(
    Exact({
      locale: Nullable(Type.String({ description: 'The locale of the template; null if there is no template.' })),
      variant: VariantName,
      kind: ProblemKind,
      message: Type.String(),
      people: Type.Integer({ description: 'The number of users affected.' }),
      users: Type.Array(Exact({ id: IdOf<UserId>(), external_id: Type.String() }), { description: 'Some of the users affected.' }),
    }),
    { description: 'The first 100 different problems, with at most 100 users in all.' },
  ),
  created_at: Timestamp,
  finished_at: Nullable(Timestamp),
})
export type Preflight = Static<typeof Preflight>
