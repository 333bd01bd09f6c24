/**
 * The files that `npm run mutate` changes, and their tests: files or folders, the fastest and most effective first. A folder as a
 * source means the files in it that are not tests. Leave out tests that start processes, such as most of `server/test/disasters`,
 * because the processes would keep running if a run is interrupted.
 */
const INFRA = 'server/src/infra'
const LIB = 'server/src/lib'
const MODULES = 'server/src/modules'
const STATEMENTS = 'server/test/house/sql.test.ts'

export type Target = { source: string; tests: string[] }

const SENDING = ['attempts', 'lease', 'priority', 'record-results', 'stopping'].map((name) => `${MODULES}/messages/sending/${name}.test.ts`)
const CAMPAIGNS = [`${MODULES}/campaigns/campaigns.test.ts`, `${MODULES}/campaigns/audience`, `${MODULES}/campaigns/progress`]
const JOURNEYS = [
  `${MODULES}/journeys/engine`,
  `${MODULES}/journeys/steps`,
  `${MODULES}/journeys/simulation`,
  `${MODULES}/journeys/goals.test.ts`,
  ...['journeys', 'journeys-care', 'journey-month'].map((name) => `server/test/flows/${name}.test.ts`),
  ...['by-hand', 'insight', 'versions', 'sweeps'].map((name) => `${MODULES}/journeys/${name}`),
]
const DIRECT = [`${MODULES}/campaigns/direct`, `${MODULES}/campaigns/triggers.test.ts`, `${MODULES}/messages/reading`]
const DELIVERY = ['mail-queue', 'mail-queue-choice', 'mail-events', 'own-delivery', 'mail-sites'].map(
  (name) => `server/test/flows/${name}.test.ts`,
)
const RULES = [`${MODULES}/rules`, `${MODULES}/rules/operators`, `${MODULES}/rules/conditions`]

/** The most valuable are first. */
export const TARGETS: Target[] = [
  { source: `${INFRA}/http/idempotency.ts`, tests: [`${INFRA}/http/idempotency.test.ts`, 'server/test/flows/http.test.ts'] },
  { source: `${INFRA}/queue/jobs.ts`, tests: [`${INFRA}/queue/jobs.test.ts`] },
  {
    source: `${INFRA}/queue/partitions.ts`,
    tests: [`${INFRA}/queue/partitions.test.ts`, `${MODULES}/events/events.test.ts`],
  },
  {
    source: `${INFRA}/queue/queue.ts`,
    tests: [`${INFRA}/queue/queue.test.ts`, `${INFRA}/queue/backlog.test.ts`, `${INFRA}/http/idempotency.test.ts`],
  },

  { source: `${MODULES}/users/identity.ts`, tests: [`${MODULES}/users`] },
  { source: `${MODULES}/users/batch.ts`, tests: [`${MODULES}/users/users.test.ts`, `${MODULES}/events/events.test.ts`] },

  { source: `${MODULES}/messages/eligibility.ts`, tests: [`${MODULES}/messages/eligibility.test.ts`, `${MODULES}/messages/policy`] },
  { source: `${MODULES}/messages/reports/transition.ts`, tests: [`${MODULES}/messages/reports`] },
  { source: `${MODULES}/messages/sending/lease.ts`, tests: [`${MODULES}/messages/sending/lease.test.ts`] },
  {
    source: `${MODULES}/messages/sending/rates.ts`,
    tests: [`${MODULES}/messages/sending/priority.test.ts`, `${MODULES}/campaigns/progress/pausing.test.ts`],
  },
  { source: `${MODULES}/messages/sending/sender.ts`, tests: SENDING },
  { source: `${MODULES}/messages/sending/record-results.ts`, tests: [...SENDING, `${MODULES}/messages/reports`] },
  { source: `${MODULES}/messages/sending/queries.ts`, tests: [STATEMENTS, ...SENDING] },
  { source: `${MODULES}/messages/messages.queries.ts`, tests: [STATEMENTS, `${MODULES}/messages/messages.test.ts`] },

  {
    source: `${MODULES}/channels/access-tokens.ts`,
    tests: [`${MODULES}/channels/access-tokens.test.ts`, `${MODULES}/channels/push-services.test.ts`],
  },
  { source: `${MODULES}/keys/user-tokens.ts`, tests: [`${MODULES}/keys`, `${MODULES}/users/users.test.ts`] },
  { source: `${MODULES}/webhooks/retry.ts`, tests: [`${MODULES}/webhooks`] },
  { source: `${MODULES}/webhooks/signature.ts`, tests: [`${MODULES}/webhooks`] },
  { source: `${MODULES}/webhooks/suspension.ts`, tests: [`${MODULES}/webhooks`] },
  { source: `${MODULES}/webhooks/deliveries.queries.ts`, tests: [STATEMENTS, `${MODULES}/webhooks`] },
  { source: `${MODULES}/webhooks/endpoints.queries.ts`, tests: [STATEMENTS, `${MODULES}/webhooks`] },
  { source: `${MODULES}/subscriptions/consent.ts`, tests: [`${MODULES}/subscriptions/consent.test.ts`, `${MODULES}/subscriptions`] },
  { source: `${MODULES}/imports/waves.ts`, tests: [`${MODULES}/imports`] },
  { source: `${MODULES}/tracking/engagement/bursts.ts`, tests: [`${MODULES}/tracking/engagement`] },

  { source: `${MODULES}/campaigns/states.ts`, tests: [`${MODULES}/campaigns/states.test.ts`, `${MODULES}/campaigns/campaigns.test.ts`] },
  { source: `${MODULES}/campaigns/audience/buckets.ts`, tests: [`${MODULES}/campaigns/audience`] },
  { source: `${MODULES}/campaigns/audience/plan.ts`, tests: [`${MODULES}/campaigns/audience`, `${MODULES}/campaigns/progress`] },
  { source: `${MODULES}/campaigns/audience/send-times.ts`, tests: [`${MODULES}/campaigns/audience`] },
  { source: `${MODULES}/campaigns/audience/queries.ts`, tests: [STATEMENTS, ...CAMPAIGNS] },
  { source: `${MODULES}/campaigns/progress/queries.ts`, tests: [STATEMENTS, ...CAMPAIGNS] },
  {
    source: `${MODULES}/campaigns/triggers.ts`,
    tests: [`${MODULES}/campaigns/triggers.test.ts`, `${MODULES}/messages/messages.test.ts`],
  },

  ...['advance', 'walk', 'react', 'entries', 'run'].map((name) => ({ source: `${MODULES}/journeys/engine/${name}.ts`, tests: JOURNEYS })),

  { source: `${MODULES}/rules/operators`, tests: [`${MODULES}/rules/operators`, `${MODULES}/rules`] },
  { source: `${MODULES}/rules/conditions`, tests: RULES },
  { source: `${MODULES}/rules/check.ts`, tests: RULES },
  { source: `${MODULES}/rules/compile.ts`, tests: RULES },

  { source: `${MODULES}/activity`, tests: [`${MODULES}/activity`] },
  ...['check', 'queries', 'service', 'targets', 'trigger'].map((name) => ({
    source: `${MODULES}/campaigns/direct/${name}.ts`,
    tests: DIRECT,
  })),
  { source: `${MODULES}/messages/requests`, tests: DIRECT },
  { source: `${MODULES}/messages/reading`, tests: [`${MODULES}/messages/reading`, `${MODULES}/campaigns/direct`] },

  { source: `${MODULES}/mta/queue`, tests: [`${MODULES}/mta/queue`, ...DELIVERY, `${MODULES}/messages/submission/delivery.test.ts`] },
  ...['classify', 'hosts', 'limits', 'project-limits', 'rate', 'reply-rules', 'retries', 'scheduler', 'site-state', 'sites'].map(
    (name) => ({
      source: `${MODULES}/mta/shaping/${name}.ts`,
      tests: [`${MODULES}/mta/shaping`],
    }),
  ),
  { source: `${MODULES}/messages/delivery`, tests: [`${MODULES}/messages/delivery`, ...DELIVERY] },
  { source: `${INFRA}/outgoing/mx`, tests: [`${INFRA}/outgoing/mx`] },
  { source: `${INFRA}/outgoing/dns`, tests: [`${INFRA}/outgoing/dns`] },
  { source: `${LIB}/dkim`, tests: [`${LIB}/dkim`] },

  { source: `${LIB}/cursor.ts`, tests: [`${LIB}/cursor.test.ts`, `${INFRA}/http/paging.test.ts`] },
  { source: `${LIB}/egress.ts`, tests: [`${LIB}/egress.test.ts`, `${INFRA}/outgoing/safe-fetch.test.ts`] },
  { source: `${LIB}/token-bucket.ts`, tests: [`${LIB}/token-bucket.test.ts`] },
]
