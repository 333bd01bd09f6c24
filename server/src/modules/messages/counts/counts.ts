/** What became of a campaign's messages, added up from changes that the database itself keeps: exact at every instant, and cheap to read. */
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import { PENDING_STATES, SENT_STATES } from '../schema.ts'
import { findTallies, foldTallies, type TallyRow } from './queries.ts'

export type Counts = {
  /** All of them: whoever was meant, whatever became of it. */
  total: number
  /** Those that something will still follow. */
  pending: number
  /** Those that a provider took. */
  sent: number
  /** Those that a person opened, or followed a link of. */
  opens: number
  clicks: number
  bounced: number
  states: Omit<TallyRow, 'campaign_id'>[]
}

const sumOf = (rows: TallyRow[], member: 'messages' | 'opens' | 'clicks', states?: readonly string[]) =>
  rows.reduce((sum, row) => (states === undefined || states.includes(row.state) ? sum + row[member] : sum), 0)

/** The tallies of campaigns; one without messages has none. */
export async function messageCountsOf(ctx: ProjectCtx | InTx, ids: CampaignId[]): Promise<Map<CampaignId, Counts>> {
  const byCampaign = Map.groupBy(await findTallies(ctx, ids), ({ campaign_id }) => campaign_id)
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
        states: rows.map(({ campaign_id: _, ...row }) => row),
      },
    ]),
  )
}

const ROWS_MAX = 100
const CAMPAIGNS_AT_ONCE = 20

/** Keeps the rows to be added up few. Answers how many it spared. */
export const foldCounts = (ctx: Ctx): Promise<number> => foldTallies(ctx, ROWS_MAX, CAMPAIGNS_AT_ONCE)
