import type { FastifyRequest } from 'fastify'
import type { ApiError } from '../../lib/errors.ts'
import type { MemberId, ProjectId } from '../../lib/ids.ts'
import type { Ctx } from '../runtime/ctx.ts'
import type { RateLimits, Spent } from './rate-limits.ts'
import type { Authenticator, Credential, RecordWrite } from './route.ts'

/** One request, with what is collected on the way for the reply headers, the log and the metrics. */
export type Exchange = {
  request: FastifyRequest
  requestId: string
  version: string
  headers: Record<string, string>
  /** For the rate limit headers. */
  spent: Spent
  logFields: { project_id?: ProjectId; key_id?: number; member_id?: MemberId; replayed?: true }
  /** Known once the request is authenticated. */
  credential?: Credential
  /** Known once the body was parsed. */
  body?: unknown
  /** Why the request failed. */
  error?: ApiError
}

/** The parts of the server that serving a request needs. */
export type Serving = { ctx: Ctx; authenticator: Authenticator; recordWrite: RecordWrite; limits: RateLimits; baseUrl: () => string }

/** The headers of a request that its reply depends on. */
export const VARY = 'Origin, Accept-Encoding'

/** A header with one value. */
export function single(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}
