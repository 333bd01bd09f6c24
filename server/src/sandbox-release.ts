/** Sends a captured email to a member of the team, through the relay of this server. */
import type { SmtpAnswer } from './infra/outgoing/smtp-relays.ts'
import { inTx, type ProjectCtx } from './infra/runtime/ctx.ts'
import { ApiError, fault } from './lib/errors.ts'
import type { MessageId } from './lib/ids.ts'
import { recordAction } from './modules/audit/index.ts'
import { canMail, isMemberOfProject, submitToMember } from './modules/members/index.ts'
import { getSandboxMessage, type Release, type ReleaseInput, releasedCopy } from './modules/messages/index.ts'

/** Throws 404; 422 when the message is not an email, the address is not that of a member, or the server has no relay. */
export async function releaseSandboxMessage(ctx: ProjectCtx, id: MessageId, { to: asked }: ReleaseInput): Promise<Release> {
  const to = asked.toLowerCase()
  const { source, channel } = await getSandboxMessage(ctx, id)
  if (channel !== 'email' || source === undefined) throw new ApiError('validation_failed', 'Only emails can be released.')
  if (!canMail(ctx)) {
    throw new ApiError(
      'validation_failed',
      'This server cannot send its own emails. Ask its operator to set `SYSTEM_SMTP_URL` and `SYSTEM_MAIL_FROM`.',
    )
  }
  if (!(await isMemberOfProject(ctx, to))) {
    throw fault(
      'validation_failed',
      'to',
      'The value of `to` must be the address of a member who has joined and has a role in this project.',
    )
  }
  const from = ctx.config.SYSTEM_MAIL_FROM as string
  const messageId = `${ctx.secrets.random(16).toString('hex')}@${from.slice(from.lastIndexOf('@') + 1)}`
  const answer = await submitToMember(ctx, to, Buffer.from(releasedCopy(source, { from, to, messageId }), 'latin1'))
  const released = answer.is === 'accepted' ? { is_accepted: true, message: null } : { is_accepted: false, message: problemOf(answer) }
  await inTx(ctx, (ctx) => recordAction(ctx, ctx.projectId, 'sandbox_message.released', id, { after: { to, ...released } }))
  return released
}

const problemOf = (answer: Exclude<SmtpAnswer, { is: 'accepted' }>): string => (answer.is === 'refused' ? answer.response : answer.message)
