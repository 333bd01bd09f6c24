/**
 * The job that makes the calls of webhook steps: lease, call outside of a transaction, and then end the call and append its answer in one.
 * A process that dies in between leaves a call that is made again with the same `Idempotency-Key`.
 */
import { randomUUID } from 'node:crypto'
import type { SafeRequest, SafeResponse } from '../../../infra/outgoing/safe-fetch.ts'
import type { Started } from '../../../infra/queue/jobs.ts'
import { type Ctx, inClaim, inTx } from '../../../infra/runtime/ctx.ts'
import { saveTogether } from '../../../infra/runtime/save-together.ts'
import { storable } from '../../../lib/text.ts'
import { isTooDeep } from '../../../lib/validate.ts'
import { inProject } from '../../projects/index.ts'
import { appendJourneyItems } from '../append-items.ts'
import { CALL_LEASE_MS } from '../call-times.ts'
import { CALL } from '../job-names.ts'
import { isHeaderText } from '../steps/webhook.ts'
import { sealContext } from '../versions/secrets.ts'
import { type CallRow, claimCalls, deferCall, deleteCall } from './queries.ts'
import { nextTryAt, resultOf } from './retry.ts'

const CALLS_AT_ONCE = 200
const PER_HOST = 10
const CONNECT_TIMEOUT_MS = 5000
const ANSWER_BYTES_MAX = 8192
/** How a call fails that is not tried again, because it never can be made. */
const IMPOSSIBLE = { is: 'failed', reason: 'blocked', elapsedMs: 0 } as const

/** Makes the calls that are due and have room. Others are leased while these are under way. */
export async function callDue(ctx: Ctx, stop: AbortSignal): Promise<Started> {
  const leaseUntil = new Date(ctx.clock.now().getTime() + CALL_LEASE_MS)
  const room = { perHost: PER_HOST, total: CALLS_AT_ONCE, leaseUntil, token: randomUUID() }
  const calls = await inClaim(ctx, (ctx) => claimCalls(ctx, room))
  const finished = Promise.all(calls.map((call) => make(ctx, call, stop))).then(() => undefined)
  return { done: calls.length, finished }
}

/** Makes a call and saves its answer, as soon as the database is there. */
async function make(ctx: Ctx, call: CallRow, stop: AbortSignal): Promise<void> {
  const response = await send(ctx, call)
  const result = resultOf(response)
  const { attempts, created_at: createdAt, request } = call
  const again = { attempts, retries: request.retries, createdAt, now: ctx.clock.now(), random: ctx.secrets.random(1).readUInt8() / 255 }
  const retryAt = result.is === 'failed' && result.isRetried ? nextTryAt(again) : null
  const save = () =>
    inProject(ctx, call.project_id, (ctx) =>
      inTx(ctx, async (ctx) => {
        if (retryAt) {
          await deferCall(ctx, call, retryAt)
          return
        }
        if ((await deleteCall(ctx, call)) === 0) return
        const { journey_id, user_id, entrance_id, visit } = call
        const { status, problem } = result
        const body = response.is === 'answered' ? bodyOf(response.body) : null
        await appendJourneyItems(ctx, [{ do: 'answer', journey_id, user_id, entrance_id, visit, status, body, problem }])
      }),
    )
  const [unsaved] = await saveTogether(ctx, [call], save, stop)
  if (unsaved) throw unsaved.error
  ctx.wake(CALL)
}

async function send(ctx: Ctx, { journey_id, entrance_id, visit, request }: CallRow): Promise<SafeResponse> {
  const { method, url, headers, body, timeoutMs } = request
  const opened = Object.entries(headers).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    typeof value === 'string' ? value : ctx.secrets.open(value.secret, sealContext(journey_id)),
  ])
  // The step has checked all but secrets.
  if (!opened.every(([, text]) => isHeaderText(text))) return { ...IMPOSSIBLE, message: 'A header has a character that HTTP cannot carry.' }
  try {
    return await ctx.fetch.request({
      method: method as SafeRequest['method'],
      url,
      headers: { 'content-type': 'application/json', ...Object.fromEntries(opened), 'idempotency-key': `${entrance_id}-${visit}` },
      ...(body !== null && { body }),
      timeoutMs,
      connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, timeoutMs),
      responseBytesMax: ANSWER_BYTES_MAX,
    })
  } catch (error) {
    // Liquid can make a URL that is none.
    if (error instanceof TypeError) return { ...IMPOSSIBLE, message: 'The URL is not valid.' }
    throw error
  }
}

/**
 * JSON if it is that, otherwise text. An answer that was cut is text, and so is one that is nested deeper than data may be (D-F-6). Characters
 * that PostgreSQL cannot store are replaced, not refused, because whoever sent them is not told.
 */
function bodyOf(text: string): unknown {
  if (text === '') return null
  const value = jsonOf(text)
  return storable(value === undefined || isTooDeep(value) ? text : value)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
