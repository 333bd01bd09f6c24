import { route } from '../../../infra/http/route.ts'
import { NO_POLICY, SendingPolicy } from './policy.ts'
import { findPolicy, savePolicy } from './queries.ts'

const path = '/api/client/sending-policy'

export const policyRoutes = [
  route({
    method: 'GET',
    path,
    summary: 'Read how often users may hear from the project, and when not.',
    access: { secret: 'support' },
    reply: SendingPolicy,
    run: async (ctx) => (await findPolicy(ctx)) ?? NO_POLICY,
  }),
  route({
    method: 'PUT',
    path,
    summary: 'Set frequency caps and quiet hours.',
    description:
      'A message that is over a cap, or due in quiet hours, waits until it fits or its deadline passes; it is never dropped silently. Messages of transactional subscription types do not ask.',
    access: { secret: 'admin' },
    body: SendingPolicy,
    reply: SendingPolicy,
    run: async (ctx, { body }) => {
      await savePolicy(ctx, body)
      return body
    },
  }),
]
