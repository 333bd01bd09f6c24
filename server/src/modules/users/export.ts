/** The shape of an export of a user. `user-data.ts` fills it. */
import { type TSchema, Type } from 'typebox'
import { JsonDownloadOf } from '../../infra/http/route.ts'
import { Exact, Timestamp } from '../../lib/shapes.ts'

/** The members of an export that are arrays, with what they have. */
export const EXPORTED: Record<string, string> = {
  profiles: 'The profile, and the profiles of users who were merged into this user.',
  anonymous_ids: 'Anonymous ids, with the time at which they were linked.',
  devices: 'Push devices, without their tokens.',
  subscriptions: 'Stored subscription states.',
  consents: 'The consent entries, with their proofs.',
  confirmations: 'Confirmations that were requested.',
  lists: 'Current and former list memberships.',
  events: 'Events of the user, and system events.',
  activity: 'The entries of the user in `GET /activity`.',
  messages: 'Messages, with their states and the data of their requests.',
  message_attachments: 'Attachments that are kept, in base64.',
  sandbox_messages: 'Messages that the sandbox keeps, with their content.',
  inbox: 'In-app messages, with their content.',
  link_clicks: 'Clicks on tracked links.',
  journeys: 'For each journey, how often the user entered, completed and exited it.',
  journey_entrances: 'The user’s entrances that have not ended.',
  past_journey_entrances: 'The user’s entrances that have ended.',
  journey_calls: 'Calls of webhook steps in progress.',
  imports: 'Changes that imports made to the user, kept for 24 hours.',
  emails: 'Email that this server delivers, with its attempts, including email that applications submitted to the address over SMTP.',
  suppressions: 'Suppressions of the addresses of the user.',
  refused_items:
    'Items of requests that were accepted and then refused, with the reason, such as an event whose profile would be too large.',
}

const rows = (description: string): TSchema =>
  Type.Array(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }), { description })

export const UserExport = JsonDownloadOf(
  Exact({
    exported_at: { ...Timestamp, description: 'When the export began.' } as typeof Timestamp,
    user_id: Type.Integer({ description: 'The id of the user.' }),
    ...Object.fromEntries(Object.entries(EXPORTED).map(([name, description]) => [name, rows(description)])),
  }),
)
