import { type Static, Type } from 'typebox'
import { Exact, Instant, Timestamp } from '../../../lib/shapes.ts'

const STEPS_MAX = 60
const CEILING_MAX = 100_000_000

const members = {
  is_active: Type.Boolean({ description: 'Whether the ceilings apply.' }),
  steps: Type.Array(Type.Integer({ minimum: 1, maximum: CEILING_MAX }), {
    minItems: 1,
    maxItems: STEPS_MAX,
    description:
      'The highest number of emails to a mail site in a day (UTC), for each step. After the last step there is no ceiling. Transactional emails that answer an event or a request, and email submitted over SMTP, count but go beyond it. A site moves to the next step after a day on which it got at least half of its ceiling.',
  }),
  bounce_percent_max: Type.Number({
    minimum: 0,
    maximum: 100,
    description: 'If a higher share of a day’s emails bounces, the mail site goes back a step and gets no more emails that day.',
  }),
  deferral_percent_max: Type.Number({
    minimum: 0,
    maximum: 100,
    description: 'If a higher share of a day’s emails is deferred, the mail site goes back a step and gets no more emails that day.',
  }),
  is_per_address: Type.Boolean({
    description: 'Whether warm-up begins anew when the server sends from another address. 422 on a server that sends from several in turn.',
  }),
}

export const WarmUpInput = Type.Partial(Exact(members), { additionalProperties: false })
export type WarmUpInput = Static<typeof WarmUpInput>

export const WarmUpRow = Type.Object({ ...members, created_at: Instant, updated_at: Instant })
export type WarmUpRow = Static<typeof WarmUpRow>

const SiteState = Exact({
  site: Type.String({ description: 'The mail site: a mailbox provider, or the mail hosts that several domains share.' }),
  source_address: Type.String({
    description: 'The IP address that the emails are sent from; empty if all IP addresses are warmed up together.',
  }),
  step: Type.Integer({ description: 'The step, counted from 1.' }),
  ceiling: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'The highest number of emails today; null after the last step.',
  }),
  sent: Type.Integer({
    description: 'The number of emails sent today. Transactional emails, and email submitted over SMTP, can raise it above the ceiling.',
  }),
  bounced: Type.Integer({ description: 'Today’s emails that bounced.' }),
  deferred: Type.Integer({ description: 'Today’s emails that were deferred.' }),
})

/** A warm-up plan with the state of its mail sites. */
export const WarmUp = Exact({
  ...members,
  sites: Type.Array(SiteState, { description: 'At most 100 mail sites, those with the most emails today first.' }),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type WarmUp = Static<typeof WarmUp>

export const SiteRow = Type.Object({
  site: Type.String(),
  source_address: Type.String(),
  step: Type.Integer(),
  day: Type.String(),
  sent: Type.Integer(),
  bounced: Type.Integer(),
  deferred: Type.Integer(),
})
export type SiteRow = Static<typeof SiteRow>
