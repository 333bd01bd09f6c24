import { type Static, Type } from 'typebox'
import { CHANNELS } from '../../lib/channels.ts'
import type { ListId, ListVersionId, ProjectId, UserId } from '../../lib/ids.ts'
import { ArchivedAt, ArchivedQuery, Changes, Exact, IdOf, Instant, Name, Nullable, OneOf, Page, Tags, Timestamp } from '../../lib/shapes.ts'
import { Explanation, type Rule, RuleSchema } from '../rules/index.ts'
import { Identifier, User } from '../users/index.ts'

const LIST_TYPES = ['static', 'dynamic'] as const
/** The most users that one request may add or remove. */
const USERS_MAX = 100

const type = OneOf(LIST_TYPES, {
  description: 'A `static` list has the users that were added to it; a `dynamic` list has the users who match its rule.',
})

export const ListInput = Exact(
  { name: Name(), type, rule: Type.Optional(RuleSchema), tags: Type.Optional(Tags) },
  { examples: [{ name: 'Regulars', type: 'dynamic', rule: { event: 'purchase', at_least: 3, within: '30d' }, tags: ['shop'] }] },
)
export type ListInput = Static<typeof ListInput>

export const ListChanges = Changes({ name: Name(), tags: Tags, rule: RuleSchema })
export type ListChanges = Static<typeof ListChanges>

const columns = {
  id: IdOf<ListId>(),
  project_id: IdOf<ProjectId>(),
  name: Type.String(),
  type,
  tags: Type.Array(Type.String()),
}

export const ListQuery = Exact({
  ...ArchivedQuery.properties,
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Only lists with this tag.' })),
})
export type ListQuery = Static<typeof ListQuery>

/** A list in a reply. */
export const List = Exact({
  ...columns,
  rule: Type.Unsafe<Rule | null>({ type: ['object', 'null'], description: 'Null for a static list.' }),
  description: Type.String({ description: 'The rule as a sentence; empty for a static list.' }),
  state: OneOf(['ready', 'building'], {
    description: 'While a list is `building`, it keeps the users of its previous rule; a new list is empty until it is `ready`.',
  }),
  progress: Type.Number({ description: 'Progress of the build, from 0 to 1.' }),
  users_count: Type.Integer({ description: 'Number of users in the list.' }),
  archived_at: ArchivedAt,
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type List = Static<typeof List>

/** A list with its newest version. */
export const ListRow = Type.Object({
  ...columns,
  version_id: Nullable(IdOf<ListVersionId>()),
  live_version_id: Nullable(IdOf<ListVersionId>()),
  rule: Type.Unsafe<Rule | null>({ type: ['object', 'null'] }),
  /** Of the newest version; null before its build has begun. */
  progress: Nullable(Type.Number()),
  users_count: Type.Integer(),
  archived_at: Nullable(Instant),
  created_at: Instant,
  updated_at: Instant,
})
export type ListRow = Static<typeof ListRow>

const bounds = { minItems: 1, maxItems: USERS_MAX }

/** The users to add or remove. Exactly one of the two is given. */
export const Selection = Exact({
  user_ids: Type.Optional(Type.Array(IdOf<UserId>(), { ...bounds, description: 'The `id` of each user.' })),
  external_ids: Type.Optional(Type.Array(Identifier, { ...bounds, description: 'The `external_id` of each user.' })),
})
export type Selection = Static<typeof Selection>

const unchanged = Type.Integer({ description: 'Number of users without any change.' })
const absent = Type.Array(Type.Union([Type.Integer(), Type.String()]), { description: 'The given ids for which no user was found.' })

export const Added = Exact({ added: Type.Integer(), unchanged, missing: absent })
export const Removed = Exact({ removed: Type.Integer(), unchanged, missing: absent })

export const PreviewInput = Exact({ rule: RuleSchema }, { examples: [{ rule: { attribute: 'data.plan', is: 'pro' } }] })

export const Preview = Exact({
  count: Type.Integer({ description: 'Number of users who match the rule.' }),
  reach: Type.Array(
    Exact({ channel: OneOf(CHANNELS), count: Type.Integer({ description: 'How many of these users have what the channel needs.' }) }),
    {
      description:
        'For each channel, how many of these users have what it needs: an address, or a push device with a token. Consents and suppressions are ignored; a campaign’s preflight takes them into account.',
    },
  ),
  users: Type.Array(User, { description: 'The ten newest of these users.' }),
  conditions: Type.Array(
    Exact({
      path: Type.String({ description: 'Path of the condition in the request body.' }),
      description: Type.String(),
      count: Type.Integer({ description: 'Number of users who match this condition on its own.' }),
    }),
  ),
  sampled: Type.Boolean({ description: 'Whether the counts are estimates. Always `false`: the counts are exact.' }),
})
export type Preview = Static<typeof Preview>

/** A page of the users who match a rule. */
export const MatchingUsers = Exact({ ...Page(User).properties, description: Type.String({ description: 'The rule in words.' }) })
export type MatchingUsers = Static<typeof MatchingUsers>

/** A list that a user is in. */
export const ListOfUser = Exact(
  {
    id: IdOf<ListId>(),
    name: Type.String(),
    type: OneOf(LIST_TYPES),
    since: Timestamp,
  },
  { title: 'ListOfUser' },
)
export type ListOfUser = Static<typeof ListOfUser>

/** Why a user is in a list, or is not. */
export const UserExplanation = Exact({
  list_id: IdOf<ListId>(),
  user_id: IdOf<UserId>(),
  member: Type.Boolean({ description: 'Whether the user is in the list.' }),
  since: Nullable(Timestamp),
  evaluated_at: Timestamp,
  holds: Nullable(Type.Boolean({ description: 'Whether the rule holds for the user now. Null for a static list.' })),
  next_check_at: Nullable(Timestamp),
  explanation: Type.Unsafe<Explanation | null>({ anyOf: [Explanation, { type: 'null' }] }),
})
export type UserExplanation = Static<typeof UserExplanation>
