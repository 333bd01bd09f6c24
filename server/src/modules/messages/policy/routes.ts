import { audits } from '../../../infra/http/audited.ts'
import { route } from '../../../infra/http/route.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { NO_POLICY, SendingPolicy } from './policy.ts'
import { findPolicy, savePolicy } from './queries.ts'

const path = '/api/client/sending-policy'

const policyAudit = audits('sending_policy', {
  keyOf: () => 'sending_policy',
  idOf: () => null,
  read: async (ctx: ProjectCtx) => (await findPolicy(ctx)) ?? NO_POLICY,
})

export const policyRoutes = [
  route({
    method: 'GET',
    path,
    summary: 'Read frequency caps and quiet hours.',
    description: 'A project that has never set them has no caps and no quiet hours.',
    access: { secret: 'support' },
    reply: SendingPolicy,
    run: async (ctx) => (await findPolicy(ctx)) ?? NO_POLICY,
  }),
  route({
    method: 'PUT',
    path,
    summary: 'Set frequency caps and quiet hours.',
    description:
      'A message that is over a cap, or due in quiet hours, waits. If the wait would outlast the message’s deadline, the message is skipped at once, with the reason `frequency_cap` for a cap or `deadline_passed` for quiet hours. Messages of transactional subscription types ignore both.',
    access: { secret: 'admin' },
    audit: policyAudit('updated'),
    body: SendingPolicy,
    reply: SendingPolicy,
    run: async (ctx, { body }) => {
      await savePolicy(ctx, body)
      return body
    },
  }),
]
