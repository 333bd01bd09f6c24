/**
 * Gives the messages of a slice to their provider. They are in a send attempt record by then, so each needs a result whatever becomes of the others:
 * what has none when the lease ends may have been sent, and is not sent again.
 */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { mapWithConcurrency } from '../../../lib/concurrency.ts'
import type { Outgoing } from '../../channels/index.ts'
import { fromDomainOf } from '../../domains/index.ts'
import { recheckedFrom } from '../eligibility.ts'
import { type Attachments, bytesOf, type Files, withFiles } from './attachments.ts'
import { attemptSend, type ReadyMessage } from './attempts.ts'
import { type Attempted, notAttempted } from './record-results.ts'

type ToAttempt = { ready: ReadyMessage; outgoing: Outgoing; files: Files }

/**
 * What came of the messages, without those whose attempt has thrown: whether they were sent is not known. `failures` are their errors, which the
 * caller throws when the results are saved.
 */
export async function attemptSlice(
  ctx: ProjectCtx,
  { holding }: Attachments,
  messages: readonly ToAttempt[],
  atOnce: number,
): Promise<{ sent: Attempted[]; failures: unknown[] }> {
  const failures: unknown[] = []
  const sent = await mapWithConcurrency(messages, atOnce, async (one) => {
    try {
      return [await holding(bytesOf(one.files), () => attemptOne(ctx, one))]
    } catch (error) {
      failures.push(error)
      return []
    }
  })
  return { sent: sent.flat(), failures }
}

async function attemptOne(ctx: ProjectCtx, { ready, outgoing, files }: ToAttempt): Promise<Attempted> {
  const whole = await prepared(ctx, ready, outgoing, files)
  return whole ? attemptSend(ctx, ready, whole) : notAttempted(ready.message, ready.eligible, recheckedFrom(ctx.clock.now()))
}

/**
 * The message with its files. The custom domain of its campaign is that of the default sender (D-MTA-43). Null if they cannot be read: nothing
 * has left yet, so that the message can be sent later.
 */
async function prepared(
  ctx: ProjectCtx,
  { eligible: { campaign } }: ReadyMessage,
  composed: Outgoing,
  files: Files,
): Promise<Outgoing | null> {
  try {
    const outgoing = await withFiles(ctx, composed, files)
    const fromDomain = campaign.custom_domain_id === null ? undefined : await fromDomainOf(ctx, campaign.custom_domain_id)
    return fromDomain === undefined ? outgoing : { ...outgoing, fromDomain }
  } catch (error) {
    ctx.log.warn({ err: error, message_id: composed.id }, 'what a message needs could not be read; the message will be tried again')
    return null
  }
}
