/** Checks how a campaign splits its audience: variants, winner and hold-out. Pure. */
import { channels } from '../../lib/channels.ts'
import type { Fault } from '../../lib/errors.ts'
import type { CampaignFields, CampaignRow } from './schema.ts'

const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })

/** Faults of the variants, the winner and the hold-out that a campaign would have after a write. */
export function splitFaults({ type, channel }: Pick<CampaignRow, 'type' | 'channel'>, fields: CampaignFields): Fault[] {
  const { variants, winner, send_in_user_timezone } = fields
  if (type === 'trigger') return triggerFaults(fields)
  const faults: Fault[] = []
  if (variants.length === 1) faults.push(broken('variants', 'Give at least two `variants`, or none.'))
  if (new Set(variants.map(({ name }) => name)).size < variants.length)
    faults.push(broken('variants', 'The names of `variants` must differ from each other.'))
  if (winner === null) return faults
  if (variants.length === 0) faults.push(broken('winner', 'A `winner` needs at least two `variants` to choose from.'))
  if (send_in_user_timezone)
    faults.push(
      broken('winner', 'A `winner` cannot be chosen if users get the campaign at different times. Set `send_in_user_timezone` to `false`.'),
    )
  if (!channels[channel].knowsEngagement)
    faults.push(broken('winner', `Opens and clicks are not tracked on the channel \`${channel}\`. Omit \`winner\`.`))
  return faults
}

function triggerFaults({ variants, holdout_percent, winner }: CampaignFields): Fault[] {
  const given = { variants: variants.length > 0, holdout_percent: holdout_percent > 0, winner: winner !== null }
  return Object.entries(given)
    .filter(([, is]) => is)
    .map(([param]) => broken(param, `Only campaigns of the type \`blast\` can have \`${param}\`. Omit it.`))
}
