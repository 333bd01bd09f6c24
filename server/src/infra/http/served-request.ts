import type { ApiError } from '../../lib/errors.ts'
import type { ProjectId } from '../../lib/ids.ts'
import type { Actor, Origin } from '../runtime/ctx.ts'
import type { Route } from './route.ts'

/** Passed in by `app.ts`, because infra must not import the log of requests. Called after each request of a project; returns at once. */
export type LogRequest = (request: ServedRequest) => void

/** A request of a project, as it came in and what happened to it. It has secrets and personal data; what is kept must have none. */
export type ServedRequest = {
  route: Route
  projectId: ProjectId
  actor: Actor
  via: Origin['via']
  requestId: string
  /** The path parameters as they came. */
  params: Record<string, string>
  /** The text after the question mark. */
  query: string
  /** The body, if one was read and could be parsed. */
  body: unknown
  status: number
  /** The refusal, or the failure. */
  error: ApiError | undefined
  /** The first request with the `Idempotency-Key`, if this is a replay of its reply. */
  originalRequest: string | undefined
  elapsedMs: number
}
