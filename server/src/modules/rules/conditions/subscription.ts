import { sql } from '../../../infra/postgres/db.ts'
import type { SubscriptionId } from '../../../lib/ids.ts'
import { Exact, IdOf, OneOf } from '../../../lib/shapes.ts'
import { SUBSCRIPTION_STATES, type SubscriptionCondition } from '../rule.ts'
import { condition } from './condition.ts'

/** The subscription states (D-USUB-1) of each value, and its description. */
const VALUES: Record<SubscriptionCondition['is'], { states: number[]; description: string }> = {
  subscribed: { states: [1, 2], description: 'subscribed to' },
  unsubscribed: { states: [0], description: 'unsubscribed from' },
  confirmed: { states: [2], description: 'confirmed for' },
}

export const subscription = condition<SubscriptionCondition>({
  label: 'Subscription',
  description: 'Users with this subscription state. Without a stored state, the default of the subscription type applies.',
  shape: Exact({
    subscription: IdOf<SubscriptionId>({ description: 'The id of the subscription type.' }),
    is: OneOf(SUBSCRIPTION_STATES, { description: 'The state. Users who are `confirmed` are also `subscribed`.' }),
  }),
  example: { subscription: 4, is: 'subscribed' },
  references: (given) => [{ kind: 'subscription', id: given.subscription, param: 'subscription' }],
  compile: ({ subscription: id, is }) => {
    const { states } = VALUES[is]
    return {
      dependencies: [`subscription:${id}`],
      needs: 'subscriptions',
      holds: (facts) => states.includes(facts.subscription(id)),
      evidence: (facts) => ({ state: facts.subscription(id) }),
      sql: ({ projectId, tables }) => ({
        holds: sql`(coalesce(
            (select s.state from ${tables.userSubscriptions} s where s.project_id = ${projectId} and s.user_id = u.id and s.subscription_id = ${id}),
            (select s.default_state from ${tables.subscriptions} s where s.project_id = ${projectId} and s.id = ${id}),
            0) = any(${states}::int[]))`,
      }),
    }
  },
  describe: ({ subscription: id, is }, names) =>
    `${VALUES[is].description} ${names.subscription(id) === undefined ? id : `“${names.subscription(id)}”`}`,
})
