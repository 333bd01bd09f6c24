/** The state transitions that a write may cause, and what a campaign needs for each (D-CAMP-3). Pure. */
import type { Fault } from '../../lib/errors.ts'
import { SENDING_STATES } from '../messages/index.ts'

export const CAMPAIGN_TYPES = ['blast', 'trigger'] as const
export type CampaignType = (typeof CAMPAIGN_TYPES)[number]

export const CAMPAIGN_STATES = ['draft', 'scheduled', 'loading', 'running', 'finished', 'aborting', 'aborted'] as const
export type CampaignState = (typeof CAMPAIGN_STATES)[number]

/** The server sets `loading` and `aborting`. */
export const WRITABLE_STATES = ['draft', 'scheduled', 'running', 'finished', 'aborted'] as const
type WritableState = (typeof WRITABLE_STATES)[number]

/** A new `send_at` makes a blast that is being sent `aborting`: its unsent messages are withdrawn, then it is `scheduled` again. */
const TRANSITIONS: Record<CampaignType, Record<CampaignState, readonly (WritableState | 'aborting')[]>> = {
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

export const LIVE_STATES: readonly CampaignState[] = ['scheduled', 'loading', 'running', 'aborting']

/** Whether a campaign sends or is about to. Such a campaign is aborted when it is archived. */
export const isLive = (state: CampaignState): boolean => LIVE_STATES.includes(state)

/** Campaigns in these states can be paused, and stay paused in them. */
export const PAUSABLE_STATES: readonly CampaignState[] = ['scheduled', 'loading', 'running']

const isSending = (state: CampaignState): boolean => SENDING_STATES.includes(state)

/** The state after a write: the written one, or `aborting` if a blast that is being sent gets a new `send_at`. */
export const stateAfter = (
  type: CampaignType,
  from: CampaignState,
  { state = from, hasNewTime }: { state?: CampaignState | undefined; hasNewTime: boolean },
): CampaignState => (type === 'blast' && hasNewTime && isSending(from) && state === from ? 'aborting' : state)

/** What the server makes of a scheduled blast by itself. */
const OF_SCHEDULED: readonly CampaignState[] = ['scheduled', 'loading', 'running', 'finished', 'aborting']

/** The state that was last asked for. What becomes of a scheduled blast by itself is none. */
export const requestedState = (type: CampaignType, state: CampaignState): CampaignState =>
  type === 'blast' && OF_SCHEDULED.includes(state) ? 'scheduled' : state

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
 * Why a write is refused, or null. A write that keeps the state is checked too, because it may remove what that state needs.
 * The first missing thing is reported.
 */
export function stateFault(from: CampaignState, to: CampaignDraft): Fault | null {
  if (to.type === 'trigger' && to.state === 'scheduled')
    return broken('type', 'Only campaigns of the type `blast` can be scheduled. Set `state` to `running` instead.')
  if (to.state !== from && !(TRANSITIONS[to.type][from] as readonly string[]).includes(to.state)) {
    return broken('state', `A ${to.type} campaign cannot go from \`${from}\` to \`${to.state}\`.`)
  }
  // Only blasts are ever in these states.
  if (to.state === 'scheduled' || to.state === 'aborting') return scheduleFault(to)
  if (to.type === 'trigger' && to.state === 'running') return runFault(to)
  return null
}

/** Why a campaign cannot be paused or resumed, or null. */
export const pauseFault = (state: CampaignState): Fault | null =>
  PAUSABLE_STATES.includes(state)
    ? null
    : broken(
        'state',
        `Only campaigns that are \`scheduled\`, \`loading\` or \`running\` can be paused or resumed. This one is \`${state}\`.`,
      )

function scheduleFault({ send_at, list_ids, hasTemplate }: CampaignDraft): Fault | null {
  if (send_at === null) return broken('send_at', 'A scheduled campaign needs `send_at`.')
  if (list_ids.length === 0) return broken('list_ids', 'A scheduled campaign needs at least one list in `list_ids`.')
  return hasTemplate ? null : templateFault('be scheduled')
}

/** Without `event_name`, journeys and requests send it (D-CAMP-3). */
const runFault = ({ hasTemplate }: CampaignDraft): Fault | null => (hasTemplate ? null : templateFault('run'))

const templateFault = (verb: string) =>
  broken(
    'state',
    `The campaign needs a template before it can ${verb}. Add one with \`PUT /campaigns/{id}/templates/{locale}\`. If the campaign has variants, each needs one.`,
  )

const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })
