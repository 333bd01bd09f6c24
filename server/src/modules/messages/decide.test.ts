import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CampaignId, ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'
import type { Outcome } from '../channels/index.ts'
import type { UserRow } from '../users/index.ts'
import { type Circumstances, endingOf, mayWe } from './decide.ts'

const now = new Date('2026-11-23T09:00:00.000Z')
const campaign = { id: 7 as CampaignId, name: 'Welcome', state: 'running', subscription_id: 1 as SubscriptionId }
const person: UserRow = {
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
const fine: Circumstances<string> = { channel: 'email', attempts: 1, campaign, person, subscription: 1, template: 'template' }

describe('may we?', () => {
  test.each<[Partial<Circumstances<string>>, string, string]>([
    [{ campaign: undefined }, 'aborted', 'campaign_stopped'],
    [{ campaign: { ...campaign, state: 'aborted' } }, 'aborted', 'campaign_stopped'],
    [{ campaign: { ...campaign, state: 'aborting' } }, 'aborted', 'campaign_stopped'],
    [{ campaign: { ...campaign, state: 'finished' } }, 'aborted', 'campaign_stopped'],
    [{ campaign: { ...campaign, state: 'draft' } }, 'aborted', 'campaign_stopped'],
    [{ person: undefined }, 'skipped', 'user_gone'],
    [{ subscription: 0 }, 'skipped', 'not_subscribed'],
    [{ subscription: undefined }, 'skipped', 'not_subscribed'],
    [{ person: { ...person, email: null } }, 'skipped', 'no_address'],
    [{ channel: 'text' }, 'skipped', 'no_address'],
    [{ channel: 'push' }, 'skipped', 'no_push_device'],
    [{ template: undefined }, 'failed', 'no_template'],
    [{ attempts: 9 }, 'failed', 'attempts_exhausted'],
    [{ person: undefined, subscription: 0, template: undefined }, 'skipped', 'user_gone'],
  ])('%j: %s because of %s', (differing, state, reason) => {
    expect(mayWe({ ...fine, ...differing })).toMatchObject({ state, reason, dueAt: null })
  })

  test.each<Partial<Circumstances<string>>>([
    {},
    { subscription: 2 },
    { attempts: 8 },
    { campaign: { ...campaign, state: 'loading' } },
    { channel: 'in_app' },
    { channel: 'push', person: { ...person, has_push_device: true } },
  ])('%j: yes', (differing) => {
    expect(mayWe({ ...fine, ...differing })).toEqual({
      campaign: differing.campaign ?? campaign,
      person: differing.person ?? person,
      template: 'template',
    })
  })
})

describe('what a provider says decides how a message ends', () => {
  const later = (ms: number) => new Date(now.getTime() + ms)
  test.each<[Outcome, number, unknown]>([
    [{ is: 'accepted', delivered: true }, 1, { state: 'delivered', reason: null, dueAt: null }],
    [{ is: 'accepted', delivered: false }, 1, { state: 'sent', reason: null, dueAt: null }],
    [
      { is: 'rejected', reason: 'No such number.', code: '21211' },
      1,
      { state: 'failed', reason: 'provider_rejected', detail: 'No such number.', code: '21211' },
    ],
    [{ is: 'deferred', reason: 'Busy.' }, 1, { state: 'deferred', reason: 'provider_deferred', detail: 'Busy.', dueAt: later(30_000) }],
    [{ is: 'deferred', reason: 'Busy.' }, 2, { state: 'deferred', dueAt: later(120_000) }],
    [{ is: 'deferred', reason: 'Busy.' }, 7, { state: 'deferred', dueAt: later(21_600_000) }],
    [{ is: 'deferred', reason: 'Busy.', retryAt: later(60_000) }, 1, { state: 'deferred', dueAt: later(60_000) }],
    [{ is: 'deferred', reason: 'Busy.', retryAt: later(1000) }, 1, { state: 'deferred', dueAt: later(30_000) }],
    [{ is: 'deferred', reason: 'Busy.', retryAt: later(900_000_000) }, 1, { state: 'deferred', dueAt: later(21_600_000) }],
    [{ is: 'deferred', reason: 'Busy.' }, 8, { state: 'failed', reason: 'attempts_exhausted', detail: 'Busy.', dueAt: null }],
  ])('%j at attempt %i', (outcome, attempts, expected) => expect(endingOf(outcome, attempts, now)).toMatchObject(expected as object))

  test('the wait never shrinks from one attempt to the next', () => {
    const waitAfter = (attempt: number) => endingOf({ is: 'deferred', reason: '' }, attempt, now).dueAt?.getTime() ?? 0
    fc.assert(fc.property(fc.integer({ min: 1, max: 6 }), (attempt) => waitAfter(attempt + 1) >= waitAfter(attempt)))
  })
})
