import { sql } from '../../../infra/postgres/db.ts'
import type { SubscriptionId } from '../../../lib/ids.ts'
import { Exact, IdOf, OneOf } from '../../../lib/shapes.ts'
import { SUBSCRIPTION_STATES, type SubscriptionCondition } from '../rule.ts'
import { condition } from './condition.ts'

/** The states (D-USUB-1) that each word stands for, and how it reads. */
const WORDS: Record<SubscriptionCondition['is'], { states: number[]; says: string }> = {
  subscribed: { states: [1, 2], says: 'subscribed to' },
  unsubscribed: { states: [0], says: 'unsubscribed from' },
  confirmed: { states: [2], says: 'confirmed for' },
}

export const subscription = condition<SubscriptionCondition>({
  label: 'Subscription',
  shape: Exact({ subscription: IdOf<SubscriptionId>(), is: OneOf(SUBSCRIPTION_STATES) }),
  references: (given) => [{ kind: 'subscription', id: given.subscription, param: 'subscription' }],
  compile: ({ subscription: id, is }) => {
    const { states } = WORDS[is]
    return {
      mentions: [`subscription:${id}`],
      needs: 'subscriptions',
      holds: (facts) => states.includes(facts.subscription(id)),
      seen: (facts) => ({ state: facts.subscription(id) }),
      sql: ({ projectId, tables }) => ({
        holds: sql`(coalesce(
            (select s.state from ${tables.userSubscriptions} s where s.project_id = ${projectId} and s.user_id = u.id and s.subscription_id = ${id}),
            (select s.default_state from ${tables.subscriptions} s where s.project_id = ${projectId} and s.id = ${id}),
            0) = any(${states}::int[]))`,
      }),
    }
  },
  says: ({ subscription: id, is }, names) =>
    `${WORDS[is].says} ${names.subscription(id) === undefined ? id : `“${names.subscription(id)}”`}`,
})
