import type { LiveCall, LiveEvent } from '../../../infra/http/route.ts'
import { createStreamLimits } from '../../../infra/http/stream-limits.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { ApiError, fault } from '../../../lib/errors.ts'
import { createHub, type Topic } from './hub.ts'
import * as kinds from './topics/index.ts'
import type { TopicKind } from './topics/topic.ts'

const HEARTBEAT_MS = 20_000
/** How long a stream may outlive its session, its key or its role. */
const PERMITTED_FOR_MS = 30_000
const STREAMS_MAX = 2000
/** A browser opens at most six connections to a server over HTTP/1.1, and members have more than one browser. */
const STREAMS_OF_EACH_MAX = 20
const TOPICS_MAX = 20

const hub = createHub(kinds)
const open = createStreamLimits<string>({ max: STREAMS_MAX, maxOfEach: STREAMS_OF_EACH_MAX, who: 'A member or a key' })

/** Reads the topics of a request, such as `campaign:12,sandbox`. Throws 400. */
export function topicsOf(text: string): Topic[] {
  const names = [...new Set(text.split(','))]
  if (names.length > TOPICS_MAX) throw fault('validation_failed', 'topics', `At most ${TOPICS_MAX} topics can be watched by one stream.`)
  return names.map((name) => {
    const [kind = '', id] = name.split(':')
    const known = Object.hasOwn(kinds, kind) ? (kinds as Record<string, TopicKind>)[kind] : undefined
    if (known?.of === 'project' && id === undefined) return { kind, id: 0 }
    if (known?.of === 'object' && /^[1-9]\d{0,14}$/.test(id ?? '')) return { kind, id: Number(id) }
    throw fault('parameter_invalid_format', 'topics', `The topic \`${name}\` does not exist. Name topics such as ${samples}.`)
  })
}

const samples = Object.entries<TopicKind>(kinds)
  .map(([kind, { of }]) => (of === 'object' ? `\`${kind}:12\`` : `\`${kind}\``))
  .join(', ')

/** What each topic has, for the API reference. */
export const topicsInWords = Object.entries<TopicKind>(kinds)
  .map(([kind, { about, of }]) => `\`${kind}${of === 'object' ? ':<id>' : ''}\`: ${about}`)
  .join(' ')

/**
 * Streams the states of topics: each as it is, and whenever it has changed. Ends with `expired` when the session, the key or the role is
 * gone, and without it when the client disconnects or the server shuts down. Throws 429 if there are too many streams.
 */
export async function* listen(ctx: ProjectCtx, topics: Topic[], live: LiveCall): AsyncGenerator<LiveEvent> {
  open(`${ctx.actor?.kind}:${ctx.actor?.id}`, live.signal)
  using watcher = hub.watch(ctx, topics)
  let permittedAt = ctx.clock.now().getTime()
  let id = 0
  // The headers go out at once, before there is anything to tell.
  yield 'heartbeat'
  while (!live.signal.aborted) {
    const permittedMs = permittedAt + PERMITTED_FOR_MS - ctx.clock.now().getTime()
    const states = await watcher.next(Math.min(HEARTBEAT_MS, permittedMs), live.signal)
    if (live.signal.aborted) return
    const now = ctx.clock.now().getTime()
    // Also if the clock was set back, which would otherwise prolong the permission.
    if (Math.abs(now - permittedAt) >= PERMITTED_FOR_MS) {
      const refused = await live.requireStill().catch(refusal)
      if (refused) return yield { event: 'expired', id: ++id, data: { reason: refused.reason, message: refused.message } }
      permittedAt = now
    }
    if (states.length === 0) yield 'heartbeat'
    for (const { kind, id: of, state } of states) yield { event: kind, id: ++id, data: { topic: of === 0 ? kind : `${kind}:${of}`, state } }
  }
}

function refusal(error: unknown): ApiError {
  if (error instanceof ApiError && error.status < 500) return error
  throw error
}
