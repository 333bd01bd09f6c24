import { type Static, Type } from 'typebox'
import type { CampaignId } from '../../../lib/ids.ts'
import { Exact, IdOf, OneOf } from '../../../lib/shapes.ts'
import { HOUR_MS } from '../../../lib/times.ts'
import { idAt, missingOf } from './settings.ts'
import { type Case, DEFAULT_PATH, type Decision, type EffectResult, type StepContext, step, type Visit } from './step.ts'

const WAIT_HOURS = 72
/** Why users leave without waiting for their message. */
const QUEUED = 'queued'

const Settings = Exact({
  campaign_id: Type.Optional(IdOf<CampaignId>({ description: 'The trigger campaign to send.' })),
  wait: Type.Optional(
    OneOf(['none', 'sent', 'delivered'], {
      description: 'When users continue: at once (`none`), once the message is `sent` (default), or once it is `delivered`.',
    }),
  ),
  wait_hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 720,
      description: `Hours to wait for the delivery of a sent message before continuing without it. Default ${WAIT_HOURS}.`,
    }),
  ),
})
type Settings = Static<typeof Settings>

/** The paths for states in which a message stays, or from which users continue. */
const STATES = ['sent', 'delivered', 'bounced', 'complained', 'failed', 'skipped', 'aborted', 'unknown']
const PENDING = ['queued', 'claimed', 'deferred']
/** How long after its deadline a message without an outcome is looked at, and how often from then on. */
const LOOK_AGAIN_MS = HOUR_MS

/** The visits whose message may not be sent yet, because the user did not wait for it. */
export const queuedVisits = (trail: readonly Visit[]): number[] =>
  trail.flatMap(({ path, reason, visit }) => (path === DEFAULT_PATH && reason === QUEUED ? [visit] : []))

const after = (instant: Date, ms: number) => new Date(instant.getTime() + ms)
const go = (path: string, reason: string): Decision => ({ is: 'go', path, reason })

function decide({ campaign_id, ...settings }: Settings, context: StepContext): Decision {
  const { input, now } = context
  switch (input.is) {
    case 'arrived':
      if (campaign_id === undefined) return go('skipped', 'campaign_stopped')
      return { is: 'do', effect: { is: 'message', campaignId: campaign_id } }
    case 'done':
      return decideResult(settings, input.result, now)
    case 'outcome':
      return decideOutcome(settings, input, context)
    // There is no message any more, and none may be sent in its place.
    case 'timer':
      return go('unknown', 'no_outcome')
    default:
      return { is: 'stay' }
  }
}

function decideResult({ wait = 'sent' }: Settings, result: EffectResult, now: Date): Decision {
  if (result.is === 'refused') return go('skipped', result.reason)
  if (wait === 'none') return go(DEFAULT_PATH, QUEUED)
  const deadline = result.is === 'queued' && result.deadline > now ? result.deadline : now
  return { is: 'wait', until: after(deadline, LOOK_AGAIN_MS), on: [], note: 'queued' }
}

function decideOutcome(
  { wait = 'sent', wait_hours = WAIT_HOURS }: Settings,
  { state, reason }: { state: string; reason: string | null },
  { now, noted }: StepContext,
): Decision {
  if (PENDING.includes(state)) return { is: 'wait', until: after(now, LOOK_AGAIN_MS), on: [], note: 'queued' }
  if (state !== 'sent' || wait !== 'delivered') return go(STATES.includes(state) ? state : 'unknown', reason ?? state)
  const known = typeof noted.sent_at === 'string' ? new Date(noted.sent_at) : now
  // A clock that was ahead may have been set back since.
  const sentAt = known > now ? now : known
  const until = after(sentAt, wait_hours * HOUR_MS)
  if (until <= now) return go('sent', 'wait_over')
  return { is: 'wait', until, on: [], note: 'sent', seen: { sent_at: sentAt.toISOString() } }
}

const seven: Settings = { campaign_id: 7 as CampaignId }
const delivered: Settings = { ...seven, wait: 'delivered' }
const outcome = (state: string, reason: string | null = null) => ({ is: 'outcome' as const, state, reason })
const at = (text: string) => new Date(text)
const SENT = { sent_at: '2026-11-23T09:00:00.000Z' }

const CASES: Case<Settings>[] = [
  { title: 'sends on arrival', settings: seven, decides: { is: 'do', effect: { is: 'message', campaignId: 7 as CampaignId } } },
  {
    title: 'waits for the message until an hour after its deadline',
    settings: seven,
    given: { input: { is: 'done', result: { is: 'queued', deadline: at('2026-11-24T09:00:00Z') } } },
    decides: { is: 'wait', until: at('2026-11-24T10:00:00Z'), on: [], note: 'queued' },
  },
  {
    title: 'does not wait with `wait: none`',
    settings: { ...seven, wait: 'none' },
    given: { input: { is: 'done', result: { is: 'queued', deadline: at('2026-11-24T09:00:00Z') } } },
    decides: go('default', 'queued'),
  },
  {
    title: 'campaign finished, aborted, deleted',
    settings: seven,
    given: { input: { is: 'done', result: { is: 'refused', reason: 'campaign_stopped' } } },
    decides: go('skipped', 'campaign_stopped'),
  },
  { title: 'sent', settings: seven, given: { input: outcome('sent') }, decides: go('sent', 'sent') },
  { title: 'unsubscribed', settings: seven, given: { input: outcome('skipped', 'unsubscribed') }, decides: go('skipped', 'unsubscribed') },
  { title: 'past its deadline', settings: seven, given: { input: outcome('skipped', 'expired') }, decides: go('skipped', 'expired') },
  { title: 'render fails', settings: seven, given: { input: outcome('failed', 'render_failed') }, decides: go('failed', 'render_failed') },
  { title: 'sender lost', settings: seven, given: { input: outcome('unknown', 'sender_lost') }, decides: go('unknown', 'sender_lost') },
  { title: 'aborted', settings: seven, given: { input: outcome('aborted', 'user_gone') }, decides: go('aborted', 'user_gone') },
  { title: 'bounced at once', settings: seven, given: { input: outcome('bounced') }, decides: go('bounced', 'bounced') },
  { title: 'complained', settings: delivered, given: { input: outcome('complained') }, decides: go('complained', 'complained') },
  {
    title: 'paused or in quiet hours when the timer is due: waits on',
    settings: seven,
    given: { input: outcome('queued') },
    decides: { is: 'wait', until: at('2026-11-23T10:00:00Z'), on: [], note: 'queued' },
  },
  { title: 'no message when the timer is due', settings: seven, given: { input: { is: 'timer' } }, decides: go('unknown', 'no_outcome') },
  {
    title: '`wait: delivered`: sent, still waiting',
    settings: { ...delivered, wait_hours: 2 },
    given: { input: outcome('sent') },
    decides: { is: 'wait', until: at('2026-11-23T11:00:00Z'), on: [], note: 'sent', seen: SENT },
  },
  {
    title: '`wait: delivered`: sent in a future that did not come, waits from now',
    settings: { ...delivered, wait_hours: 2 },
    given: { noted: { sent_at: '2026-12-23T09:00:00.000Z' }, input: outcome('sent') },
    decides: { is: 'wait', until: at('2026-11-23T11:00:00Z'), on: [], note: 'sent', seen: SENT },
  },
  {
    title: '`wait: delivered`: delivered',
    settings: delivered,
    given: { input: outcome('delivered') },
    decides: go('delivered', 'delivered'),
  },
  { title: '`wait: delivered` bounces', settings: delivered, given: { input: outcome('bounced') }, decides: go('bounced', 'bounced') },
  {
    title: '`wait_hours` have passed: continues as sent',
    settings: { ...delivered, wait_hours: 2 },
    given: { now: at('2026-11-23T11:00:00Z'), noted: SENT, input: outcome('sent') },
    decides: go('sent', 'wait_over'),
  },
  {
    title: 'an event changes nothing',
    settings: seven,
    given: { input: { is: 'event', name: 'purchase', data: {}, createdAt: at('2026-11-23T09:00:00Z') } },
    decides: { is: 'stay' },
  },
]

export const action = step({
  label: 'Send',
  description: 'Sends a message of a trigger campaign to the user.',
  also: ['send email', 'send message', 'email', 'SMS', 'text', 'push', 'message'],
  settings: Settings,
  example: { campaign_id: 7 as CampaignId },
  sentence: 'send the campaign 7',
  references: ({ campaign_id }) => ({ ids: idAt('campaign', campaign_id, 'campaign_id'), rules: [] }),
  paths: () => [DEFAULT_PATH, ...STATES].map((path) => ({ path, isRequired: false })),
  faults: (settings, when) => (when === 'published' ? missingOf(settings, 'campaign_id') : []),
  decide,
  tell: ({ campaign_id }, { path, reason, left_at }) => {
    if (left_at === null || path === null) return `Waiting for the message of the campaign ${campaign_id}.`
    if (path === DEFAULT_PATH) return `The message of the campaign ${campaign_id} was queued.`
    return `The message of the campaign ${campaign_id} ${STATE_WORDS[path] ?? `has the state ${path}`}${why(path, reason)}.`
  },
  cases: CASES,
})

const STATE_WORDS: Record<string, string> = {
  sent: 'was sent',
  delivered: 'was delivered',
  bounced: 'bounced',
  complained: 'was reported as spam',
  failed: 'failed',
  skipped: 'was skipped',
  aborted: 'was aborted',
  unknown: 'may or may not have been sent',
}

const why = (path: string, reason: string | null) => (reason === null || reason === path ? '' : ` (${reason})`)
