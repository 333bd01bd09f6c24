import { type Static, Type } from 'typebox'
import type { OrganisationId, ProjectId } from '../../lib/ids.ts'
import { ROLES } from '../../lib/roles.ts'
import { Changes, Exact, IdOf, Instant, Line, Name, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'

const Locale = Line(255, { format: 'locale', minLength: 1, description: 'Default locale (BCP 47).' })
const Timezone = Line(50, { format: 'timezone', minLength: 1, description: 'Default time zone (IANA).' })

const TEST_RECIPIENTS_MAX = 100
const TEST_RECIPIENTS =
  'The recipients to which a key with the role `editor` may send test messages: email addresses, domains such as `@example.com`, phone numbers such as `+61412345678`, origins of webhooks such as `https://hooks.example.com`, and for push and in-app messages the `external_id` of users. Keys that may send campaigns are not restricted.'

const required = { name: Name(), locale: Locale, timezone: Timezone }
const optional = {
  description: Nullable(Type.String({ maxLength: 5000 })),
  website_url: Nullable(Type.String({ trim: true, maxLength: 2048, format: 'website-url' })),
  text_opt_out_message: Nullable(
    Type.String({ maxLength: 1600, description: 'Reply to an opt-out by text message; null or blank for the default text.' }),
  ),
  text_help_message: Nullable(
    Type.String({ maxLength: 1600, description: 'Reply to the keyword HELP; null or blank for the default text.' }),
  ),
  link_wrap_email: Type.Boolean(),
  link_wrap_push: Type.Boolean(),
  track_opens_email: Nullable(Type.Boolean()),
  deeplink_mirror_url: Type.String({ trim: true, maxLength: 2048, format: 'deeplink-url' }),
  test_recipients: Type.Array(Line(254), { maxItems: TEST_RECIPIENTS_MAX, description: TEST_RECIPIENTS }),
}

export const ProjectInput = Exact({ ...required, ...Type.Partial(Type.Object(optional)).properties })
export type ProjectInput = Static<typeof ProjectInput>

export const ProjectChanges = Changes({ ...required, ...optional })
export type ProjectChanges = Static<typeof ProjectChanges>

export const ProjectDeletion = Exact({ name: Type.String({ maxLength: 255, description: 'The exact name of the project.' }) })

/** Users are counted up to this number. */
export const USERS_COUNTED_MAX = 1_000_000

/** How much of each kind of data a project has, for the reply to its deletion. */
export const ProjectSize = Exact({
  users: Type.Integer({ description: `The number of users. Counting stops at ${USERS_COUNTED_MAX}.` }),
  messages: Type.Integer({ description: 'The number of messages in any state.' }),
  waiting_messages: Type.Integer({ description: 'Messages that are still to be sent.' }),
  campaigns: Type.Integer({ description: 'The number of campaigns.' }),
  journeys: Type.Integer({ description: 'The number of journeys.' }),
  lists: Type.Integer({ description: 'The number of lists.' }),
  keys: Type.Integer({ description: 'The number of keys. They stop working when the project is deleted.' }),
})
export type ProjectSize = Static<typeof ProjectSize>

const columns = {
  id: IdOf<ProjectId>(),
  organization_id: IdOf<OrganisationId>(),
  name: Type.String(),
  locale: Type.String(),
  timezone: Type.String(),
  description: Nullable(Type.String()),
  website_url: Nullable(Type.String()),
  text_opt_out_message: Nullable(Type.String()),
  text_help_message: Nullable(Type.String()),
  link_wrap_email: Type.Boolean(),
  link_wrap_push: Type.Boolean(),
  track_opens_email: Nullable(Type.Boolean()),
  deeplink_mirror_url: Type.String(),
  test_recipients: Type.Array(Type.String(), { description: TEST_RECIPIENTS }),
}

export const ProjectRow = Type.Object({ ...columns, created_at: Instant, updated_at: Instant })
export type ProjectRow = Static<typeof ProjectRow>

/** A project in a list. */
export const ListedProject = Exact({ ...columns, created_at: Timestamp, updated_at: Timestamp })

/** What any key may know of its own project. */
export const OwnProject = Exact({ id: columns.id, name: columns.name, locale: columns.locale, timezone: columns.timezone })
export type OwnProject = Static<typeof OwnProject>

/** A single project in replies. */
export const Project = Exact({
  ...columns,
  created_at: Timestamp,
  updated_at: Timestamp,
  role: OneOf(ROLES, { description: 'The role of the caller in the project.' }),
  has_provider: Type.Boolean({ description: 'Whether the project has at least one provider.' }),
})
export type Project = Static<typeof Project>
