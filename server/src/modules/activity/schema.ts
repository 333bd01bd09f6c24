import { type Static, Type } from 'typebox'
import type { CampaignId, JourneyId, MessageId, UserId } from '../../lib/ids.ts'
import { Exact, IdOf, Instant, Nullable, Timestamp } from '../../lib/shapes.ts'

const LIMIT_MAX = 500

export const ActivityQuery = Exact({
  cursor: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,15}$',
      problem: 'is not a cursor of this feed',
      description: 'The `cursor` of the last reply. Without it, the feed starts with the oldest activity that is kept.',
    }),
  ),
  limit: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,3}$',
      numericRange: [1, LIMIT_MAX],
      problem: `must be a number from 1 to ${LIMIT_MAX}`,
      description: `The maximum number of items. Default: 100.`,
    }),
  ),
})
export type ActivityQuery = Static<typeof ActivityQuery>

const columns = {
  id: IdOf<number>({ description: 'The id. Use it to recognise items that you already have.' }),
  type: Type.String({
    description:
      'The name of the event: `email_opened`, `email_clicked` and so on for each channel, `subscribed`, `unsubscribed`, `text_received`, `list_entered` or `list_left`.',
  }),
  data: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'Further data, depending on the type: `url`, `subscription_id`, `source`, `list_id`, `text`.',
  }),
}

export const ActivityRow = Type.Object({
  ...columns,
  position: Type.Integer(),
  user_id: IdOf<UserId>(),
  message_id: Nullable(IdOf<MessageId>()),
  campaign_id: Nullable(IdOf<CampaignId>()),
  journey_id: Nullable(IdOf<JourneyId>()),
  created_at: Instant,
})
export type ActivityRow = Static<typeof ActivityRow>

/** What a user did. */
export const ActivityItem = Exact(
  {
    ...columns,
    user: Exact(
      {
        id: IdOf<UserId>(),
        external_id: Nullable(Type.String({ description: 'The external id, or the anonymous id of a user without one.' })),
      },
      { description: 'The user.' },
    ),
    message_id: Type.Optional(IdOf<MessageId>({ description: 'The id of the message. Read it with getMessage.' })),
    campaign_id: Type.Optional(IdOf<CampaignId>({ description: 'The campaign of the message.' })),
    journey_id: Type.Optional(IdOf<JourneyId>({ description: 'The journey of the message.' })),
    created_at: Timestamp,
  },
  { title: 'ActivityItem' },
)
export type ActivityItem = Static<typeof ActivityItem>

export const Activity = Exact(
  {
    results: Type.Array(ActivityItem, { description: 'Oldest first.' }),
    cursor: Type.String({ description: 'Send it with the next request. It does not change while there is nothing new.' }),
  },
  { title: 'Activity' },
)
export type Activity = Static<typeof Activity>
