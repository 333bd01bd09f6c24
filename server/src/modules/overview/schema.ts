import { type Static, Type } from 'typebox'
import type { CampaignId } from '../../lib/ids.ts'
import { CHANNELS, Exact, IdOf, Line, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'

const counts = {
  sent: Type.Integer({ description: 'Messages that a provider accepted.' }),
  delivered: Type.Integer({ description: 'Messages that were reported as delivered, including those later reported as spam.' }),
  opened: Type.Integer({ description: 'Messages that were opened. An estimate, because mail programs load images automatically.' }),
  clicked: Type.Integer({ description: 'Messages with a click.' }),
  bounced: Type.Integer({ description: 'Messages that bounced.' }),
  complained: Type.Integer({ description: 'Messages that were reported as spam.' }),
  failed: Type.Integer({ description: 'Messages that failed.' }),
}
export const COUNTED = Object.keys(counts) as (keyof typeof counts)[]

const Week = (description: string) => Exact(counts, { description })

const PROBLEMS = [
  'webhook_disabled',
  'domain_problem',
  'campaign_paused',
  'mail_paused',
  'items_parked',
  'processing_late',
  'bounces_high',
  'failures_high',
] as const

export const Problem = Exact(
  {
    kind: OneOf(PROBLEMS, { description: 'The kind, as a stable code.' }),
    message: Type.String({ description: 'What is wrong and what to do, in a sentence.' }),
    object: Nullable(
      Exact(
        {
          type: OneOf(['webhook', 'domain', 'campaign', 'channel'], { description: 'The kind of object.' }),
          id: Type.String({ description: 'The id of the object, or the name of the channel.' }),
          name: Type.String({ description: 'The name of the object.' }),
        },
        { description: 'The object that the problem concerns; null for the project.' },
      ),
    ),
  },
  { title: 'OverviewProblem' },
)
export type Problem = Static<typeof Problem>

const Sending = Exact(
  {
    campaign_id: IdOf<CampaignId>(),
    name: Type.String(),
    channel: OneOf(CHANNELS),
    state: Type.String({ description: 'The state of the campaign.' }),
    is_paused: Type.Boolean({ description: 'Whether the campaign is paused.' }),
    sent: Type.Integer({ description: 'How many of its messages were sent.' }),
    total: Type.Integer({ description: 'How many messages it has.' }),
    started_at: Nullable(Timestamp),
  },
  { title: 'OverviewSend' },
)

export const Overview = Exact(
  {
    problems: Type.Array(Problem, { description: 'What needs attention.' }),
    sending: Type.Array(Sending, {
      description: 'Blasts that are loading or running, and paused campaigns. At most 20, the most recently changed first.',
    }),
    processing: Exact(
      {
        waiting_since: Nullable(Timestamp),
        parked: Type.Integer({ description: 'The number of accepted items that could not be applied. Counting stops at 1,000.' }),
      },
      { description: 'Accepted events and users that are waiting or could not be applied.' },
    ),
    channels: Type.Array(
      Exact(
        {
          channel: OneOf(CHANNELS),
          last_7_days: Week('Today and the six days before, in UTC.'),
          previous_7_days: Week('The seven days before `last_7_days`.'),
        },
        { title: 'OverviewChannel' },
      ),
      { description: 'Channels that were used in the last 14 days. A message is counted on the day on which it was created.' },
    ),
    read_at: Type.Unsafe<Date>({ ...Timestamp, description: 'The time of the data, at most five seconds ago.' }),
  },
  { title: 'Overview' },
)
export type Overview = Static<typeof Overview>
export type Counts = Overview['channels'][number]['last_7_days']

const TOPICS_LENGTH_MAX = 500
export const StreamQuery = Exact({
  topics: Line(TOPICS_LENGTH_MAX, { description: 'The topics to watch, separated by commas, such as `campaign:12,sandbox`.' }),
})

const QUERY_LENGTH_MAX = 255
export const SearchQuery = Exact({ q: Line(QUERY_LENGTH_MAX, { description: 'A part of a name, in upper or lower case.' }) })

export const Found = Exact(
  {
    type: OneOf(['user', 'campaign', 'journey', 'list', 'webhook', 'domain'], { description: 'The kind of object.' }),
    id: Type.String({ description: 'The id to use in the path of the object; for a user, the `external_id`.' }),
    name: Type.String({ description: 'The name of the object.' }),
    detail: Nullable(
      Type.String({
        description:
          'A detail that distinguishes objects with the same name: for example, the address of a user or the state of a campaign.',
      }),
    ),
  },
  { title: 'SearchResult' },
)
export type Found = Static<typeof Found>

export const SearchResults = Exact(
  { results: Type.Array(Found, { description: 'At most five of each kind.' }) },
  { title: 'SearchResults' },
)

export const Reachability = Exact(
  {
    results: Type.Array(
      Exact(
        {
          channel: OneOf(CHANNELS),
          is_reachable: Type.Boolean({ description: 'Whether messages of at least one subscription type reach the user.' }),
          reason: Nullable(
            OneOf(['no_address', 'no_push_device', 'suppressed', 'not_subscribed', 'not_confirmed'], {
              description: 'The reason code, as for a skipped message; null if the channel reaches the user.',
            }),
          ),
          detail: Nullable(Type.String({ description: 'The reason for the suppression.' })),
          subscribed: Type.Integer({ description: 'How many of the channel’s subscription types the user gets.' }),
          subscriptions: Type.Integer({ description: 'How many subscription types the channel has.' }),
        },
        { title: 'ReachabilityOfChannel' },
      ),
      { description: 'One item for each channel.' },
    ),
  },
  { title: 'Reachability' },
)
export type Reachability = Static<typeof Reachability>

export const UserTimelineItem = Exact(
  {
    kind: OneOf(['event', 'message', 'subscription', 'list', 'journey'], {
      description:
        '`event`: an event of the user. `message`: a state of a message, or an open or a click. `subscription`, `list` and `journey`: a change to the user’s subscriptions, lists or journeys.',
    }),
    name: Type.String({
      description:
        'The name of the event, such as `email_delivered`. For journeys: `journey_entered`, `journey_ended` or `journey_held_out`.',
    }),
    data: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description: 'Further data, by name.' }),
    source: OneOf(['api', 'system'], {
      description: '`api` for an event from a request, `system` for events and actions of Carillon itself.',
    }),
    created_at: Timestamp,
  },
  { title: 'UserTimelineItem' },
)
export type UserTimelineItem = Static<typeof UserTimelineItem>
