import { expect, test } from 'vitest'
import type { CampaignId, ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'
import type { UserRow } from '../users/index.ts'
import { scopeOf } from './scope.ts'

const at = new Date('2026-11-23T09:00:00.000Z')
const project = { id: 42 as ProjectId, name: 'Shop', locale: 'en-AU', timezone: 'Australia/Sydney', description: 'Not in the scope.' }
const campaign = { id: 7 as CampaignId, name: 'Welcome', state: 'running', subscription_id: 1 as SubscriptionId }
const user: UserRow = {
  id: 1 as UserId,
  project_id: 42 as ProjectId,
  external_id: 'ana',
  anonymous_id: null,
  email: 'ana@example.com',
  phone: null,
  timezone: null,
  locale: 'fr',
  data: { plan: 'pro' },
  has_push_device: false,
  created_at: at,
  updated_at: at,
}

test('the template scope has the user, the event, the campaign and the project', () => {
  const event = { name: 'order', data: { total: 5 }, created_at: '2026-11-23T08:00:00.000Z' }
  expect(scopeOf(project, { event }, campaign, user)).toEqual({
    user: {
      id: 1,
      external_id: 'ana',
      anonymous_id: null,
      email: 'ana@example.com',
      phone: null,
      timezone: null,
      locale: 'fr',
      data: { plan: 'pro' },
      has_push_device: false,
      created_at: '2026-11-23T09:00:00.000Z',
    },
    event,
    campaign: { id: 7, name: 'Welcome' },
    project: { id: 42, name: 'Shop', locale: 'en-AU', timezone: 'Australia/Sydney' },
  })
})
