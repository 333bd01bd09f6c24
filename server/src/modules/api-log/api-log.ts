/**
 * Gathers requests in memory and writes them once a second, all projects in one statement. What does not fit, or cannot be written, is not
 * kept: the log is a help for developers, and never a reason for a request to wait or to fail.
 */
import type { LogRequest, ServedRequest } from '../../infra/http/served-request.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { flushEvery } from '../../infra/runtime/flushed.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { insertRequests, type NewRequest, trimRequests } from './queries.ts'
import { redactedBody, redactedParam, redactedParams, redactedQuery } from './redact.ts'

const FLUSH_EVERY_MS = 1000
/** Between two flushes, of each project and each kind of result. The rest of a burst says nothing new. */
const KEPT_OF_EACH_MAX = 20
const WAITING_MAX = 2000
/** A project is trimmed when this process has written so many rows of it since the last time. */
const TRIM_EVERY = 100

export type ApiLog = AsyncDisposable & {
  /** Takes a request, redacted at once. Does not throw. */
  put: LogRequest
  /** Writes what was taken. */
  flush(): Promise<void>
}

/** What this process keeps of a project until the next flush. */
type OfProject = { succeeded: number; failed: number; leftOut: number }

/** Opens the log of this process, which is written once a second. Disposing of it writes everything. */
export function openApiLog(ctx: Ctx): ApiLog {
  const { API_LOG_MAX: keep } = ctx.config
  if (keep === 0) return { put: () => undefined, flush: async () => undefined, [Symbol.asyncDispose]: async () => undefined }
  const counts = new Map<ProjectId, OfProject>()
  /** Rows of each project that were written since it was trimmed. */
  const untrimmed = new Map<ProjectId, number>()
  let waiting: NewRequest[] = []

  const flushOnce = async () => {
    const requests = waiting
    waiting = []
    for (const [id, { leftOut }] of counts) if (leftOut === 0) counts.delete(id)
    for (const count of counts.values()) Object.assign(count, { succeeded: 0, failed: 0 })
    if (requests.length === 0) return
    try {
      await insertRequests(ctx, requests)
      await trim(Map.groupBy(requests, ({ project_id }) => project_id))
    } catch (err) {
      ctx.log.warn({ err, requests: requests.length }, 'requests could not be written to the API log')
    }
  }
  const trim = async (written: Map<ProjectId, NewRequest[]>) => {
    const due: ProjectId[] = []
    for (const [id, { length }] of written) {
      // The first time, because other processes may have left rows.
      const since = (untrimmed.get(id) ?? TRIM_EVERY) + length
      untrimmed.set(id, since < TRIM_EVERY ? since : 0)
      if (since >= TRIM_EVERY) due.push(id)
    }
    if (due.length > 0) await trimRequests(ctx, due, keep)
  }
  return {
    ...flushEvery(ctx.clock, FLUSH_EVERY_MS, flushOnce),
    put(request) {
      if (!isLogged(request)) return
      const count = counts.get(request.projectId) ?? { succeeded: 0, failed: 0, leftOut: 0 }
      counts.set(request.projectId, count)
      const kind = request.status < 400 ? 'succeeded' : 'failed'
      if (count[kind] >= KEPT_OF_EACH_MAX || waiting.length >= WAITING_MAX) {
        count.leftOut++
        return
      }
      count[kind]++
      waiting.push(keptOf(ctx, request, count.leftOut))
      count.leftOut = 0
    },
  }
}

/** A console that is open reads all the time. */
const isLogged = ({ via, route }: ServedRequest) => via !== 'console' || route.method !== 'GET'

const keptOf = (ctx: Ctx, request: ServedRequest, leftOut: number): NewRequest => ({
  project_id: request.projectId,
  request_id: request.requestId,
  method: request.route.method,
  route: request.route.path,
  params: redactedParams(request.route, request.params),
  query: redactedQuery(request.route, request.query),
  body: redactedBody(request.route, request.body) ?? null,
  status: request.status,
  code: request.error?.code ?? null,
  param: redactedParam(request.route, request.error?.param),
  elapsed_ms: Math.round(request.elapsedMs),
  actor_type: request.actor.kind,
  actor_id: request.actor.id,
  actor_name: request.actor.name,
  via: request.via,
  original_request: request.originalRequest ?? null,
  left_out: leftOut,
  created_at: ctx.clock.now(),
})
