import { describe, expect, test } from 'vitest'
import type { CampaignId, ProjectId, SubscriptionId } from '../../lib/ids.ts'
import { applied, copyOf, draftOf, dueAt, fieldsOf, lateChanges, sendAt } from './fields.ts'
import type { CampaignRow } from './schema.ts'

const draft = draftOf({ type: 'blast', name: 'Spring', subscription_id: 1 as SubscriptionId })

describe('send_at', () => {
  test.each([
    ['2026-12-01T09:00:00Z', false, '2026-12-01T09:00:00.000Z'],
    ['2026-12-01T09:00+10:00', false, '2026-11-30T23:00:00.000Z'],
    ['2026-12-01T09:00', false, '2026-12-01T09:00:00.000Z'],
    ['2026-12-01', false, '2026-12-01T00:00:00.000Z'],
    ['2026-12-01T09:00:00.123456Z', false, '2026-12-01T09:00:00.123Z'],
    ['2026-12-01T09:00', true, '2026-12-01T09:00:00.000'],
    ['2026-12-01T09:00:00Z', true, '2026-12-01T09:00:00.000'],
    ['2026-12-01T09:00+10:00', true, '2026-12-01T09:00:00.000'],
    ['2026-12-01', true, '2026-12-01T00:00:00.000'],
  ])('%s, on each user’s clock: %s, is %s', (text, inUserTimezone, expected) => expect(sendAt(text, inUserTimezone)).toBe(expected))

  test('keeps what the clock shows when it is moved to each user’s clock and back', () => {
    const planned = applied('blast', draft, { send_at: '2026-12-01T09:00:00Z' })
    const moved = applied('blast', planned, { send_in_user_timezone: true })
    expect(moved.send_at).toBe('2026-12-01T09:00:00.000')
    expect(applied('blast', moved, { send_in_user_timezone: false }).send_at).toBe('2026-12-01T09:00:00.000Z')
  })

  test('null clears it', () =>
    expect(applied('blast', applied('blast', draft, { send_at: '2026-12-01' }), { send_at: null }).send_at).toBeNull())
})

test('what is absent stays, and doubles are dropped', () => {
  const tagged = applied('blast', draft, { tags: ['b', 'a', 'b'], list_ids: [2, 1, 2], exclusion_list_ids: [3, 3] })
  expect(tagged).toMatchObject({ tags: ['b', 'a'], list_ids: [2, 1], exclusion_list_ids: [3] })
  expect(applied('blast', tagged, { name: 'Autumn' })).toEqual({ ...tagged, name: 'Autumn' })
})

test('a copy is a draft without a date, and its name fits', () => {
  const original = {
    ...applied('blast', draft, { send_at: '2026-12-01', tags: ['x'] }),
    name: '🔔'.repeat(255),
    state: 'finished' as const,
  }
  const copy = copyOf(original)
  expect(copy).toEqual({ ...original, name: `${'🔔'.repeat(248)} (copy)`, state: 'draft', send_at: null })
})

describe('a new time', () => {
  const going = { ...applied('blast', draft, { send_at: '2026-12-01T09:00Z' }), state: 'running' as const }

  test.each([
    ['calls a blast back that goes out', going, { send_at: '2026-12-02' }, 'aborting'],
    ['also when the clocks are other ones', going, { send_in_user_timezone: true }, 'aborting'],
    ['also when the state it has is written with it', going, { send_at: '2026-12-02', state: 'running' as const }, 'aborting'],
    ['does not when it is the same', going, { send_at: '2026-12-01T20:00+11:00' }, 'running'],
    ['does not when it is aborted in the same write', going, { send_at: '2026-12-02', state: 'aborted' as const }, 'aborted'],
    ['leaves one that is scheduled so', { ...going, state: 'scheduled' as const }, { send_at: '2026-12-02' }, 'scheduled'],
    ['leaves one that is being called back so', { ...going, state: 'aborting' as const }, { send_at: '2026-12-02' }, 'aborting'],
    ['leaves one that is finished so', { ...going, state: 'finished' as const }, { send_at: '2026-12-02' }, 'finished'],
  ])('%s', (_, before, changes, state) => expect(applied('blast', before, changes).state).toBe(state))

  test('is nothing to a trigger', () => expect(applied('trigger', going, { send_at: '2026-12-02' }).state).toBe('running'))
})

test.each([
  [false, '2026-12-01T09:00:00.000Z', '2026-12-01T09:00:00.000Z'],
  [true, '2026-12-01T09:00:00.000', '2026-11-30T19:00:00.000Z'],
  [false, null, undefined],
])('a blast on each user’s clock (%s) at %s begins at %s', (send_in_user_timezone, send_at, expected) =>
  expect(dueAt({ send_at, send_in_user_timezone })?.toISOString()).toBe(expected),
)

describe('what the audience was made by', () => {
  const at = new Date('2026-12-01T09:00:00Z')
  const row = (more: Partial<CampaignRow>): CampaignRow => ({
    ...applied('blast', draft, { send_at: '2026-12-01T09:00Z', list_ids: [1] }),
    id: 1 as CampaignId,
    project_id: 1 as ProjectId,
    type: 'blast',
    channel: 'email',
    state: 'running',
    winner_variant: null,
    paused_at: null,
    started_at: at,
    finished_at: null,
    created_at: at,
    updated_at: at,
    ...more,
  })
  const write = (before: CampaignRow, changes: Parameters<typeof applied>[2]) =>
    lateChanges(before, applied(before.type, fieldsOf(before), changes))

  test.each<[Partial<CampaignRow>, Parameters<typeof applied>[2], string[]]>([
    [{}, { list_ids: [1, 2], holdout_percent: 5, name: 'x', rate: { limit: 1, interval_seconds: 1 } }, ['list_ids', 'holdout_percent']],
    [{}, { list_ids: [1, 2], send_at: '2026-12-02' }, []],
    [{}, { list_ids: [1] }, []],
    [{ state: 'finished' }, { send_at: '2026-12-02', variants: [] }, ['send_at']],
    [{ state: 'scheduled', started_at: null }, { list_ids: [2] }, []],
    [{ state: 'aborting' }, { list_ids: [2] }, []],
    [{ type: 'trigger' }, { expires_after_hours: 5 }, []],
  ])('of %o the write %o comes too late for %j', (more, changes, late) => expect(write(row(more), changes)).toEqual(late))
})
