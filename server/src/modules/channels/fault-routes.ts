import { audits } from '../../infra/http/audited.ts'
import { route } from '../../infra/http/route.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { fault } from '../../lib/errors.ts'
import { deleteFaults, findFaults, saveFaults } from './faults.queries.ts'
import { NO_FAULTS, SandboxFaults, sharesOf } from './faults.ts'

const path = '/api/client/sandbox/fault-policy'

const getFaults = async (ctx: ProjectCtx): Promise<SandboxFaults> => (await findFaults(ctx)) ?? NO_FAULTS

const faultAudit = audits('sandbox_faults', { keyOf: () => 'sandbox_faults', idOf: () => null, read: getFaults })

export const faultRoutes = [
  route({
    method: 'GET',
    path,
    summary: 'Read the faults of the sandbox.',
    description: 'Each value is 0 unless it was set.',
    access: { secret: 'support' },
    reply: SandboxFaults,
    run: getFaults,
  }),
  route({
    method: 'PUT',
    path,
    summary: 'Set the faults of the sandbox.',
    description:
      'Makes a share of the sandbox messages bounce, be reported as spam, or be deferred at the first attempt, with the same states and webhook events as real messages. The fault is derived from the key of the message, so every attempt has the same fault. Complaints unsubscribe the user; no address is suppressed. Set all values to 0 to switch the faults off. Messages of other providers are not affected.',
    access: { secret: 'admin' },
    audit: faultAudit('updated'),
    body: SandboxFaults,
    reply: SandboxFaults,
    run: async (ctx, { body }) => {
      if (sharesOf(body) > 100) throw fault('validation_failed', 'bounce_percent', 'The sum of the three shares must not exceed 100.')
      if (sharesOf(body) + body.delay_seconds === 0) await deleteFaults(ctx)
      else await saveFaults(ctx, body)
      return body
    },
  }),
]
