import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CampaignId, ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'
import { MINUTE_MS } from '../../lib/times.ts'
import type { ProviderResponse } from '../channels/index.ts'
import type { Consent } from '../subscriptions/index.ts'
import type { UserRow } from '../users/index.ts'
import { checkEligibility, isNoticeDue, resultOf, type SendContext, type SendingCampaign } from './eligibility.ts'

const now = new Date('2026-11-23T09:00:00.000Z')
const campaign: SendingCampaign = {
  id: 7 as CampaignId,
  name: 'Welcome',
  state: 'running',
  is_paused: false,
  subscription_id: 1 as SubscriptionId,
  provider_id: null,
  custom_domain_id: null,
  exclusion_list_ids: [],
  winner_variant: null,
  waits_for_winner: false,
  expires_after_hours: 72,
  rate: null,
  utm: null,
  mail_retries: null,
}
const user: UserRow = {
  id: 1 as UserId,
  project_id: 1 as ProjectId,
  external_id: 'ana',
  anonymous_id: null,
  email: 'ana@example.com',
  phone: null,
  timezone: null,
  locale: null,
  data: {},
  has_push_device: false,
  created_at: now,
  updated_at: now,
}
const consent: Consent = {
  user_id: 1 as UserId,
  subscription_id: 1 as SubscriptionId,
  state: 1,
  consent_id: null,
  is_transactional: false,
  requires_confirmation: false,
}
const eligible: SendContext<string> = {
  channel: 'email',
  attempts: 1,
  expiresAt: null,
  now,
  campaign,
  user,
  consent,
  suppression: undefined,
  isExcluded: false,
  template: 'template',
  variant: null,
  isDuplicate: false,
  waitsForOther: false,
  isUndecided: false,
  isResent: false,
  throttle: () => null,
}
const retried = { ...campaign, mail_retries: { after_minutes: [6], for_hours: 1 } }
const later = (ms: number) => new Date(now.getTime() + ms)
const quiet = (ms: number) => () => ({ reason: 'quiet_hours' as const, at: later(ms) })

describe('checkEligibility', () => {
  test.each<[Partial<SendContext<string>>, string, string]>([
    [{ campaign: undefined }, 'aborted', 'campaign_stopped'],
    [{ campaign: { ...campaign, state: 'aborted' } }, 'aborted', 'campaign_stopped'],
    [{ campaign: { ...campaign, state: 'finished' } }, 'aborted', 'campaign_stopped'],
    [{ campaign: { ...campaign, state: 'draft' } }, 'aborted', 'campaign_stopped'],
    [{ user: undefined }, 'skipped', 'user_gone'],
    [{ consent: { ...consent, state: 0 } }, 'skipped', 'not_subscribed'],
    [{ consent: { ...consent, requires_confirmation: true } }, 'skipped', 'not_confirmed'],
    [{ consent: undefined }, 'skipped', 'not_subscribed'],
    [{ suppression: 'complaint' }, 'skipped', 'suppressed'],
    [{ suppression: 'manual', consent: { ...consent, state: 0, is_transactional: true } }, 'skipped', 'suppressed'],
    [{ isDuplicate: true }, 'skipped', 'duplicate'],
    [{ expiresAt: later(-1) }, 'skipped', 'deadline_passed'],
    [{ expiresAt: later(1000), throttle: quiet(2000) }, 'skipped', 'deadline_passed'],
    [{ expiresAt: later(1000), throttle: () => ({ reason: 'frequency_cap', at: later(2000) }) }, 'skipped', 'frequency_cap'],
    [{ user: { ...user, email: null } }, 'skipped', 'no_address'],
    [{ channel: 'text' }, 'skipped', 'no_address'],
    [{ channel: 'push' }, 'skipped', 'no_push_device'],
    [{ template: undefined }, 'failed', 'no_template'],
    [{ attempts: 9 }, 'failed', 'attempts_exhausted'],
    [{ attempts: 12, campaign: retried }, 'failed', 'attempts_exhausted'],
    [{ user: undefined, consent: undefined, template: undefined }, 'skipped', 'user_gone'],
  ])('with %j the message is %s for %s', (differing, state, reason) => {
    expect(checkEligibility({ ...eligible, ...differing })).toMatchObject({ state, reason, dueAt: null })
  })

  test.each<[Partial<SendContext<string>>, string | null, number]>([
    [{ campaign: { ...campaign, is_paused: true } }, null, 30_000],
    [{ campaign: { ...campaign, state: 'aborting' } }, null, 30_000],
    [{ campaign: { ...campaign, state: 'scheduled' } }, null, 30_000],
    [{ isUndecided: true }, 'waiting_for_winner', 30_000],
    [{ throttle: quiet(7000) }, 'quiet_hours', 7000],
    [{ throttle: quiet(7000), expiresAt: later(7000) }, 'quiet_hours', 7000],
  ])('with %j the message is deferred', (differing, reason, ms) => {
    expect(checkEligibility({ ...eligible, ...differing })).toMatchObject({ state: 'deferred', reason, dueAt: later(ms) })
  })

  test('a message that may not be sent does not count towards caps', () => {
    const calls: string[] = []
    const throttle = () => {
      calls.push('throttle')
      return null
    }
    checkEligibility({ ...eligible, template: undefined, throttle })
    expect(calls).toEqual([])
    checkEligibility({ ...eligible, throttle })
    expect(calls).toEqual(['throttle'])
  })

  test.each<Partial<SendContext<string>>>([
    {},
    { consent: { ...consent, state: 2, requires_confirmation: true } },
    { consent: { ...consent, state: 0, is_transactional: true } },
    { expiresAt: now },
    { attempts: 8 },
    { campaign: { ...campaign, state: 'loading' } },
    { channel: 'in_app' },
    { channel: 'push', user: { ...user, has_push_device: true } },
  ])('with %j the message is eligible', (differing) => {
    expect(checkEligibility({ ...eligible, ...differing })).toEqual({
      campaign: differing.campaign ?? campaign,
      user: differing.user ?? user,
      template: 'template',
      consent: differing.consent ?? consent,
      variant: null,
    })
  })
})

describe('resultOf', () => {
  test.each<[ProviderResponse, number, unknown]>([
    [{ is: 'accepted', delivered: true }, 1, { state: 'delivered', reason: null, dueAt: null }],
    [{ is: 'accepted', delivered: false }, 1, { state: 'sent', reason: null, dueAt: null }],
    [
      { is: 'rejected', reason: 'No such number.', code: '21211' },
      1,
      { state: 'failed', reason: 'provider_rejected', detail: 'No such number.', code: '21211' },
    ],
    [
      { is: 'rejected', reason: 'No such mailbox.', code: '550', bounced: true },
      1,
      { state: 'bounced', reason: 'hard_bounce', detail: 'No such mailbox.', code: '550' },
    ],
    [{ is: 'uncertain', reason: 'The connection broke.' }, 1, { state: 'unknown', reason: 'uncertain', dueAt: null }],
    [{ is: 'deferred', reason: 'Busy.' }, 1, { state: 'deferred', reason: 'provider_deferred', detail: 'Busy.', dueAt: later(30_000) }],
    [{ is: 'deferred', reason: 'Busy.' }, 2, { state: 'deferred', dueAt: later(120_000) }],
    [{ is: 'deferred', reason: 'Busy.' }, 7, { state: 'deferred', dueAt: later(21_600_000) }],
    [{ is: 'deferred', reason: 'Busy.', retryAt: later(MINUTE_MS) }, 1, { state: 'deferred', dueAt: later(MINUTE_MS) }],
    [{ is: 'deferred', reason: 'Busy.', retryAt: later(1000) }, 1, { state: 'deferred', dueAt: later(30_000) }],
    [{ is: 'deferred', reason: 'Busy.', retryAt: later(900_000_000) }, 1, { state: 'deferred', dueAt: later(21_600_000) }],
    [{ is: 'deferred', reason: 'Busy.' }, 8, { state: 'failed', reason: 'attempts_exhausted', detail: 'Busy.', dueAt: null }],
  ])('turns the response %j to attempt %i into a send result', (outcome, attempts, expected) =>
    expect(resultOf(outcome, attempts, now)).toMatchObject(expected as object),
  )

  test('an email whose campaign has it tried more often is not given up before', () => {
    expect(checkEligibility({ ...eligible, attempts: 11, campaign: retried })).toMatchObject({ campaign: retried })
  })

  test('plans no attempt after the deadline', () => {
    const busy: ProviderResponse = { is: 'deferred', reason: 'Busy.' }
    expect(resultOf(busy, 1, now, { expiresAt: later(30_000) })).toMatchObject({ state: 'deferred' })
    expect(resultOf(busy, 1, now, { expiresAt: later(29_999) })).toMatchObject({
      state: 'failed',
      reason: 'attempts_exhausted',
      dueAt: null,
    })
  })

  test('tries an email again when its campaign says, as often as fits into its hours', () => {
    const retries = { after_minutes: [5, 90], for_hours: 4 }
    const busy: ProviderResponse = { is: 'deferred', reason: 'Busy.' }
    const after = (attempt: number) => resultOf(busy, attempt, now, { retries })
    expect([1, 2, 3].map((attempt) => after(attempt).dueAt)).toEqual([5, 90, 90].map((minutes) => later(minutes * MINUTE_MS)))
    expect(after(4)).toMatchObject({ state: 'failed', reason: 'attempts_exhausted' })
    const asked: ProviderResponse = { ...busy, retryAt: later(10 * MINUTE_MS) }
    expect(resultOf(asked, 1, now, { retries }).dueAt).toEqual(later(10 * MINUTE_MS))
  })

  test('reports a delay by the times of the campaign', () => {
    const retries = { after_minutes: [60], for_hours: 30 }
    const attempts = Array.from({ length: 31 }, (_, at) => at + 1)
    expect(attempts.filter((attempt) => isNoticeDue(attempt, retries))).toEqual([1, 5, 25])
  })

  test('never waits less than after the attempt before', () => {
    const waitAfter = (attempt: number) => resultOf({ is: 'deferred', reason: '' }, attempt, now).dueAt?.getTime() ?? 0
    fc.assert(fc.property(fc.integer({ min: 1, max: 6 }), (attempt) => waitAfter(attempt + 1) >= waitAfter(attempt)))
  })
})
