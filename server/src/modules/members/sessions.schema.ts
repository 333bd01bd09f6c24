/** What members read of their sessions. */
import { type Static, Type } from 'typebox'
import type { SessionId } from '../../lib/ids.ts'
import { Exact, IdOf, Timestamp } from '../../lib/shapes.ts'

/** When the session of a request ends. */
export const SessionEnd = Exact(
  {
    expires_at: Type.Unsafe<Date>({
      type: 'string',
      format: 'date-time',
      description: 'When the session ends unless it is used before then.',
    }),
    latest_expires_at: Type.Unsafe<Date>({
      type: 'string',
      format: 'date-time',
      description: 'The latest time at which the session ends. Using the session never moves `expires_at` past this time.',
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
    is_current: Type.Boolean({ description: 'Whether this request was made with the session.' }),
    address: Type.String({ description: 'The IP address of the sign-in.' }),
    user_agent: Type.String({ description: 'The browser, as named in its `User-Agent` header.' }),
    created_at: Timestamp,
    used_at: Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: 'When the session was last used, to within a minute.' }),
    expires_at: Timestamp,
  },
  { title: 'MemberSession' },
)
export type ListedSession = Static<typeof ListedSession>
