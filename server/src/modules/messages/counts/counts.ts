/** Message counts of campaigns, added up from changes that a database trigger records. They are always exact and cheap to read. */
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import { PENDING_STATES, SENT_STATES } from '../schema.ts'
import { type CountRow, findCounts, foldRows } from './queries.ts'

export type Counts = {
  /** All messages in any state. */
  total: number
  /** Messages that are not in a final state. */
  pending: number
  /** Messages that a provider accepted. */
  sent: number
  /** Messages that a user opened, not a bot. */
  opens: number
  clicks: number
  bounced: number
  /** Messages through which the user unsubscribed. */
  unsubscribed: number
  states: Omit<CountRow, 'campaign_id' | 'unsubscribes'>[]
}

const sumOf = (rows: CountRow[], member: 'messages' | 'opens' | 'clicks' | 'unsubscribes', states?: readonly string[]) =>
  rows.reduce((sum, row) => (states === undefined || states.includes(row.state) ? sum + row[member] : sum), 0)

/** The message counts of campaigns. A campaign without messages is not in the map. */
export async function messageCountsOf(ctx: ProjectCtx | InTx, ids: CampaignId[]): Promise<Map<CampaignId, Counts>> {
  const byCampaign = Map.groupBy(await findCounts(ctx, ids), ({ campaign_id }) => campaign_id)
  return new Map(
    [...byCampaign].map(([id, rows]) => [
      id,
      {
        total: sumOf(rows, 'messages'),
        pending: sumOf(rows, 'messages', PENDING_STATES),
        sent: sumOf(rows, 'messages', SENT_STATES),
        opens: sumOf(rows, 'opens'),
        clicks: sumOf(rows, 'clicks'),
        bounced: sumOf(rows, 'messages', ['bounced']),
        unsubscribed: sumOf(rows, 'unsubscribes'),
        states: rows.filter(({ messages }) => messages !== 0).map(({ campaign_id: _, unsubscribes: __, ...row }) => row),
      },
    ]),
  )
}

const ROWS_MAX = 100
const CAMPAIGNS_AT_ONCE = 20

/** Adds rows up so that few remain. Returns how many rows fewer there are. */
export const foldCounts = (ctx: Ctx): Promise<number> => foldRows(ctx, ROWS_MAX, CAMPAIGNS_AT_ONCE)
