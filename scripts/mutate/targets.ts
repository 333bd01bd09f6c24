/**
 * What `npm run mutate` changes, and the tests that should notice: files or folders, those that notice most and soonest first.
 * A folder as a source stands for the files in it that are no tests. Leave out tests that start processes of their own
 * (`server/test/disasters`, most of them): their processes would outlive a run that is cut short.
 */
const INFRA = 'server/src/infra'
const LIB = 'server/src/lib'
const MODULES = 'server/src/modules'
const STATEMENTS = 'server/test/house/sql.test.ts'

export type Target = { source: string; tests: string[] }

const SENDING = [
  `${MODULES}/messages/messages.test.ts`,
  `${MODULES}/messages/news.test.ts`,
  `${MODULES}/messages/reports`,
  `${MODULES}/messages/policy`,
  'server/test/disasters/sending.test.ts',
  'server/test/flows/blast.test.ts',
]
const CAMPAIGNS = [`${MODULES}/campaigns/campaigns.test.ts`, `${MODULES}/campaigns/audience`, `${MODULES}/campaigns/progress`]
const RULES = [`${MODULES}/segments/rules`, `${MODULES}/segments/operators`, `${MODULES}/segments/conditions`]

export const TARGETS: Target[] = [
  { source: `${LIB}/cursor.ts`, tests: [`${LIB}/cursor.test.ts`, `${INFRA}/paging.test.ts`] },
  { source: `${LIB}/egress.ts`, tests: [`${LIB}/egress.test.ts`, `${INFRA}/safe-fetch.test.ts`] },
  { source: `${LIB}/token-bucket.ts`, tests: [`${LIB}/token-bucket.test.ts`] },

  { source: `${INFRA}/idempotency.ts`, tests: [`${INFRA}/idempotency.test.ts`, 'server/test/flows/http.test.ts'] },
  { source: `${INFRA}/jobs.ts`, tests: [`${INFRA}/jobs.test.ts`] },
  { source: `${INFRA}/lanes.ts`, tests: [`${INFRA}/lanes.test.ts`, `${INFRA}/stream.test.ts`, `${MODULES}/events/events.test.ts`] },
  { source: `${INFRA}/stream.ts`, tests: [`${INFRA}/stream.test.ts`, `${INFRA}/backlog.test.ts`, `${MODULES}/events/events.test.ts`] },

  { source: `${MODULES}/users/identity.ts`, tests: [`${MODULES}/users`] },
  { source: `${MODULES}/users/batch.ts`, tests: [`${MODULES}/users/users.test.ts`, `${MODULES}/events/events.test.ts`] },

  { source: `${MODULES}/segments/operators`, tests: [`${MODULES}/segments/operators`, `${MODULES}/segments/rules`] },
  { source: `${MODULES}/segments/conditions`, tests: RULES },
  { source: `${MODULES}/segments/rules/check.ts`, tests: RULES },
  { source: `${MODULES}/segments/rules/compile.ts`, tests: RULES },

  { source: `${MODULES}/campaigns/states.ts`, tests: [`${MODULES}/campaigns/states.test.ts`, `${MODULES}/campaigns/campaigns.test.ts`] },
  { source: `${MODULES}/campaigns/audience/buckets.ts`, tests: [`${MODULES}/campaigns/audience`] },
  { source: `${MODULES}/campaigns/audience/plan.ts`, tests: [`${MODULES}/campaigns/audience`, `${MODULES}/campaigns/progress`] },
  { source: `${MODULES}/campaigns/audience/send-times.ts`, tests: [`${MODULES}/campaigns/audience`] },
  { source: `${MODULES}/campaigns/audience/queries.ts`, tests: [STATEMENTS, ...CAMPAIGNS] },
  { source: `${MODULES}/campaigns/progress/queries.ts`, tests: [STATEMENTS, ...CAMPAIGNS] },
  {
    source: `${MODULES}/campaigns/triggered.ts`,
    tests: [`${MODULES}/campaigns/triggered.test.ts`, `${MODULES}/messages/messages.test.ts`],
  },

  { source: `${MODULES}/messages/decide.ts`, tests: [`${MODULES}/messages/decide.test.ts`, ...SENDING] },
  { source: `${MODULES}/messages/reports/transition.ts`, tests: [`${MODULES}/messages/reports`] },
  { source: `${MODULES}/messages/sending/lease.ts`, tests: SENDING },
  { source: `${MODULES}/messages/sending/pace.ts`, tests: [...SENDING, `${MODULES}/campaigns/progress`] },
  { source: `${MODULES}/messages/sending/sender.ts`, tests: SENDING },
  { source: `${MODULES}/messages/sending/settle.ts`, tests: SENDING },
  { source: `${MODULES}/messages/sending/queries.ts`, tests: [STATEMENTS, ...SENDING] },
  { source: `${MODULES}/messages/ledger/queries.ts`, tests: [STATEMENTS, ...SENDING, `${MODULES}/campaigns/progress`] },

  { source: `${MODULES}/channels/tokens.ts`, tests: [`${MODULES}/channels/tokens.test.ts`, `${MODULES}/channels/push-services.test.ts`] },
  { source: `${MODULES}/keys/user-tokens.ts`, tests: [`${MODULES}/keys`, `${MODULES}/inbox/inbox.test.ts`] },
  { source: `${MODULES}/webhooks/retry.ts`, tests: [`${MODULES}/webhooks`] },
  { source: `${MODULES}/webhooks/signature.ts`, tests: [`${MODULES}/webhooks`] },
  { source: `${MODULES}/webhooks/suspension.ts`, tests: [`${MODULES}/webhooks`] },
  { source: `${MODULES}/webhooks/queries.ts`, tests: [STATEMENTS, `${MODULES}/webhooks`] },
  { source: `${MODULES}/subscriptions/consent.ts`, tests: [`${MODULES}/subscriptions/consent.test.ts`, `${MODULES}/subscriptions`] },
  { source: `${MODULES}/imports/waves.ts`, tests: [`${MODULES}/imports`] },
  { source: `${MODULES}/tracking/seen/bursts.ts`, tests: [`${MODULES}/tracking/seen`] },
]
