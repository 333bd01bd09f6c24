/** What a campaign's state may become by a write, and what it must have for that (D-CAMP-3). Pure. */
import type { Fault } from '../../lib/errors.ts'

export const CAMPAIGN_TYPES = ['blast', 'trigger'] as const
export type CampaignType = (typeof CAMPAIGN_TYPES)[number]

export const CAMPAIGN_STATES = ['draft', 'scheduled', 'loading', 'running', 'finished', 'aborting', 'aborted'] as const
export type CampaignState = (typeof CAMPAIGN_STATES)[number]

/** `loading` and `aborting` come about by themselves. */
export const WRITABLE_STATES = ['draft', 'scheduled', 'running', 'finished', 'aborted'] as const
type WritableState = (typeof WRITABLE_STATES)[number]

/** `aborting` is what a new time makes of a blast that is going out: what was not sent is taken back, and it is scheduled anew. */
const MOVES: Record<CampaignType, Record<CampaignState, readonly (WritableState | 'aborting')[]>> = {
  blast: {
    draft: ['scheduled', 'aborted'],
    scheduled: ['draft', 'aborted'],
    loading: ['aborting', 'aborted'],
    running: ['aborting', 'aborted'],
    finished: ['aborted'],
    aborting: ['aborted'],
    aborted: [],
  },
  trigger: {
    draft: ['running', 'aborted'],
    scheduled: ['aborted'],
    loading: ['aborted'],
    running: ['finished', 'aborted'],
    finished: ['aborted'],
    aborting: ['aborted'],
    aborted: [],
  },
}

/** Is it under way, or about to be? Then deleting it aborts it first. */
export const isLive = (state: CampaignState): boolean => ['scheduled', 'loading', 'running', 'aborting'].includes(state)

/** Does it send? Then it can be paused. */
const isSending = (state: CampaignState): boolean => state === 'loading' || state === 'running'

/** The state after a write: the one that was written, or what a new `send_at` makes of it. */
export const stateAfter = (
  type: CampaignType,
  from: CampaignState,
  { state = from, hasNewTime }: { state?: CampaignState | undefined; hasNewTime: boolean },
): CampaignState => (type === 'blast' && hasNewTime && isSending(from) && state === from ? 'aborting' : state)

/** A campaign as it would be after a write. */
export type CampaignDraft = {
  type: CampaignType
  state: CampaignState
  send_at: string | null
  event_name: string | null
  list_ids: readonly number[]
  hasTemplate: boolean
}

/**
 * Why a campaign cannot go from one state to the prospect, or null. Staying in a state is no move, but what that state
 * needs must not be taken away. The first thing that is missing is named.
 */
export function stateFault(from: CampaignState, to: CampaignDraft): Fault | null {
  if (to.type === 'trigger' && to.state === 'scheduled')
    return broken('type', 'Only campaigns of the type `blast` can be scheduled. Set `state` to `running` instead.')
  if (to.state !== from && !(MOVES[to.type][from] as readonly string[]).includes(to.state)) {
    return broken('state', `A ${to.type} campaign cannot go from \`${from}\` to \`${to.state}\`.`)
  }
  if (to.type === 'blast' && (to.state === 'scheduled' || to.state === 'aborting')) return scheduleFault(to)
  if (to.type === 'trigger' && to.state === 'running') return runFault(to)
  return null
}

/** Why a campaign cannot be paused or resumed, or null. */
export const pauseFault = (state: CampaignState): Fault | null =>
  isSending(state)
    ? null
    : broken('state', `Only campaigns that are \`loading\` or \`running\` can be paused or resumed. This one is \`${state}\`.`)

function scheduleFault({ send_at, list_ids, hasTemplate }: CampaignDraft): Fault | null {
  if (send_at === null) return broken('send_at', 'A scheduled campaign needs `send_at`.')
  if (list_ids.length === 0) return broken('list_ids', 'A scheduled campaign needs at least one list in `list_ids`.')
  return hasTemplate ? null : templateFault('be scheduled')
}

function runFault({ event_name, hasTemplate }: CampaignDraft): Fault | null {
  if (event_name === null) return broken('event_name', 'A running trigger campaign needs `event_name`, the event that it fires on.')
  return hasTemplate ? null : templateFault('run')
}

const templateFault = (verb: string) =>
  broken(
    'state',
    `The campaign needs a template before it can ${verb}. Put one at \`/campaigns/{id}/templates/{locale}\` first, one for each variant if it has some.`,
  )

const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })
