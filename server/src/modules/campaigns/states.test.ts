import { describe, expect, test } from 'vitest'
import {
  CAMPAIGN_STATES,
  CAMPAIGN_TYPES,
  type CampaignDraft,
  type CampaignState,
  type CampaignType,
  isLive,
  pauseFault,
  stateAfter,
  stateFault,
  WRITABLE_STATES,
} from './states.ts'

const ready = (type: CampaignType, state: CampaignState): CampaignDraft => ({
  type,
  state,
  send_at: '2026-12-01T09:00:00.000Z',
  event_name: type === 'trigger' ? 'signed_up' : null,
  list_ids: [1],
  hasTemplate: true,
})

const ALLOWED = new Set([
  'blast draft scheduled',
  'blast scheduled draft',
  'trigger draft running',
  'trigger running finished',
  ...CAMPAIGN_TYPES.flatMap((type) => CAMPAIGN_STATES.map((from) => `${type} ${from} aborted`)),
])

const transitions = CAMPAIGN_TYPES.flatMap((type) =>
  CAMPAIGN_STATES.flatMap((from) => WRITABLE_STATES.filter((to) => to !== from).map((to) => [type, from, to] as const)),
)

test.each(transitions)('a %s campaign goes from %s to %s only if D-CAMP-3 allows it', (type, from, to) => {
  const fault = stateFault(from, ready(type, to))
  if (ALLOWED.has(`${type} ${from} ${to}`)) expect(fault).toBeNull()
  else expect(fault).toMatchObject({ code: 'validation_failed', param: type === 'trigger' && to === 'scheduled' ? 'type' : 'state' })
})

test.each(CAMPAIGN_TYPES.flatMap((type) => CAMPAIGN_STATES.map((from) => [type, from] as const)))(
  'a new send_at makes a %s campaign that is %s aborting only if it is a blast that sends',
  (type, from) => {
    const isWithdrawn = type === 'blast' && (from === 'loading' || from === 'running')
    const to = stateAfter(type, from, { hasNewTime: true })
    expect(to).toBe(isWithdrawn ? 'aborting' : from)
    if (isWithdrawn) expect(stateFault(from, ready(type, to))).toBeNull()
    expect(stateAfter(type, from, { hasNewTime: false })).toBe(from)
    for (const state of WRITABLE_STATES.filter((state) => state !== from))
      expect(stateAfter(type, from, { state, hasNewTime: true })).toBe(state)
  },
)

test.each(CAMPAIGN_STATES)('a campaign that is %s can be paused and resumed only if it sends or is scheduled', (state) => {
  const fault = pauseFault(state)
  if (state === 'scheduled' || state === 'loading' || state === 'running') expect(fault).toBeNull()
  else expect(fault).toMatchObject({ code: 'validation_failed', param: 'state' })
})

test.each(
  CAMPAIGN_TYPES.flatMap((type) =>
    CAMPAIGN_STATES.filter((state) => state !== 'scheduled' || type === 'blast').map((state) => [type, state] as const),
  ),
)('a %s campaign may stay %s', (type, state) => expect(stateFault(state, ready(type, state))).toBeNull())

describe('what a state needs, when entering it and while in it', () => {
  test.each<[CampaignType, CampaignState, Partial<CampaignDraft>, string]>([
    ['blast', 'scheduled', { send_at: null }, 'send_at'],
    ['blast', 'aborting', { send_at: null }, 'send_at'],
    ['blast', 'aborting', { list_ids: [] }, 'list_ids'],
    ['blast', 'scheduled', { list_ids: [] }, 'list_ids'],
    ['blast', 'scheduled', { hasTemplate: false }, 'state'],
    ['blast', 'scheduled', { send_at: null, list_ids: [], hasTemplate: false }, 'send_at'],
    ['trigger', 'running', { hasTemplate: false }, 'state'],
  ])('a %s campaign that is %s with %o is refused for %s', (type, state, lacking, param) => {
    const before = state === 'aborting' ? 'running' : 'draft'
    for (const from of [before, state] as const) expect(stateFault(from, { ...ready(type, state), ...lacking })).toMatchObject({ param })
  })

  test('a running trigger needs no event, because journeys and requests send it too', () => {
    for (const from of ['draft', 'running'] as const)
      expect(stateFault(from, { ...ready('trigger', 'running'), event_name: null })).toBeNull()
  })

  test.each(['blast', 'trigger'] as const)('a %s draft needs nothing', (type) => {
    const nothing = { send_at: null, event_name: null, list_ids: [], hasTemplate: false }
    expect(stateFault('draft', { ...ready(type, 'draft'), ...nothing })).toBeNull()
    expect(stateFault('draft', { ...ready(type, 'aborted'), ...nothing })).toBeNull()
  })
})

test.each([
  ['draft', false],
  ['scheduled', true],
  ['loading', true],
  ['running', true],
  ['finished', false],
  ['aborting', true],
  ['aborted', false],
] as const)('%s is live: %s', (state, expected) => expect(isLive(state)).toBe(expected))
