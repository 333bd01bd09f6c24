import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { CHANNELS } from '../../lib/channels.ts'
import type { CampaignId, JourneyId, MessageId } from '../../lib/ids.ts'
import type { StoredEvent } from '../events/index.ts'
import { findLiveUsers } from '../users/index.ts'
import * as queries from './queries.ts'
import type { Activity, ActivityItem, ActivityQuery, ActivityRow } from './schema.ts'

/** The system events that are activity. */
const TYPES: ReadonlySet<string> = new Set([
  ...CHANNELS.flatMap((channel) => [`${channel}_opened`, `${channel}_clicked`]),
  ...['subscribed', 'unsubscribed', 'text_received', 'list_entered', 'list_left'],
])

type IsStored = Pick<StoredEvent, 'userId' | 'source' | 'event'>

const idIn = <I extends number>(value: unknown) => (typeof value === 'number' && Number.isSafeInteger(value) ? (value as I) : null)

function activityOf({ userId, event }: IsStored): queries.NewActivity {
  const { message_id, campaign_id, journey_id, ...data } = event.data
  return {
    type: event.name,
    user_id: userId,
    message_id: idIn<MessageId>(message_id),
    campaign_id: idIn<CampaignId>(campaign_id),
    journey_id: idIn<JourneyId>(journey_id),
    data,
    created_at: event.createdAt,
  }
}

/** Records what users did, from events that were stored. */
export async function recordActivity(ctx: InTx, events: IsStored[]): Promise<void> {
  const activity = events.filter(({ source, event }) => source === 'system' && TYPES.has(event.name)).map(activityOf)
  if (activity.length > 0) await queries.insertActivity(ctx, activity)
}

const LIMIT_DEFAULT = 100
const POSITIONS_AT_ONCE = 5000

/** The activity after a cursor (D-MSG-6). The first request begins the feed. */
export const readActivity = (ctx: ProjectCtx, { cursor = '0', limit }: ActivityQuery): Promise<Activity> =>
  inTx(ctx, async (ctx) => {
    const { last_position } = await queries.lockFeed(ctx)
    await queries.givePositions(ctx, last_position, POSITIONS_AT_ONCE)
    const rows = await queries.activityAfter(ctx, Number(cursor), limit === undefined ? LIMIT_DEFAULT : Number(limit))
    const users = await findLiveUsers(
      ctx,
      rows.map(({ user_id }) => user_id),
    )
    return {
      results: rows.map((row): ActivityItem => {
        const user = users.get(row.user_id)
        return present(row, { id: user?.id ?? row.user_id, external_id: user?.external_id ?? user?.anonymous_id ?? null })
      }),
      cursor: String(rows.at(-1)?.position ?? cursor),
    }
  })

const present = (
  { position: _, user_id: __, message_id, campaign_id, journey_id, ...row }: ActivityRow,
  user: ActivityItem['user'],
): ActivityItem => ({
  ...row,
  user,
  ...(message_id !== null && { message_id }),
  ...(campaign_id !== null && { campaign_id }),
  ...(journey_id !== null && { journey_id }),
})
