/** What members read of their sessions. */
import { type Static, Type } from 'typebox'
import type { SessionId } from '../../lib/ids.ts'
import { Exact, IdOf, Timestamp } from '../../lib/shapes.ts'

/** When the session of a request ends. */
export const SessionEnd = Exact(
  {
    expires_at: Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: 'When the session ends if it is not used.' }),
    latest_expires_at: Type.Unsafe<Date>({
      type: 'string',
      format: 'date-time',
      description: 'The latest time at which the session ends. Use never moves `expires_at` past it.',
    }),
    remaining_seconds: Type.Integer({
      minimum: 0,
      description: 'The time until `expires_at`, for a browser whose clock is wrong.',
    }),
  },
  { title: 'SessionEnd' },
)
export type SessionEnd = Static<typeof SessionEnd>

/** A session in the list of a member’s sessions. */
export const ListedSession = Exact(
  {
    id: IdOf<SessionId>(),
    is_current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
    address: Type.String({ description: 'The IP address of the sign-in.' }),
    user_agent: Type.String({ description: 'The browser, as it named itself.' }),
    created_at: Timestamp,
    used_at: Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: 'When it was last used, to the minute.' }),
    expires_at: Timestamp,
  },
  { title: 'MemberSession' },
)
export type ListedSession = Static<typeof ListedSession>
