import { describe, expect, test } from 'vitest'
import type { CampaignId, ProjectId, SubscriptionId } from '../../lib/ids.ts'
import { isTime } from '../../lib/times.ts'
import { applied, copyOf, draftOf, dueAt, fieldsOf, lateChanges, sendAt } from './fields.ts'
import type { CampaignRow } from './schema.ts'

const draft = draftOf({ type: 'blast', name: 'Spring', subscription_id: 1 as SubscriptionId }, { slug: 'spring', expires_after_hours: 72 })

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
  ])('%s, in each user’s time zone: %s, is %s', (text, inUserTimezone, expected) => expect(sendAt(text, inUserTimezone)).toBe(expected))

  test.each(['2101-01-01T05:00:00+06:00', '1969-12-31T23:00:00-02:00'])('%s is refused as a local time', (text) => {
    expect(isTime(text)).toBe(true)
    expect(() => applied('blast', draft, { send_at: text, send_in_user_timezone: true })).toThrow(
      expect.objectContaining({ code: 'parameter_invalid_format', param: 'send_at' }),
    )
  })

  test('keeps the local time when it changes to each user’s time zone and back', () => {
    const planned = applied('blast', draft, { send_at: '2026-12-01T09:00:00Z' })
    const moved = applied('blast', planned, { send_in_user_timezone: true })
    expect(moved.send_at).toBe('2026-12-01T09:00:00.000')
    expect(applied('blast', moved, { send_in_user_timezone: false }).send_at).toBe('2026-12-01T09:00:00.000Z')
  })

  test('null clears it', () =>
    expect(applied('blast', applied('blast', draft, { send_at: '2026-12-01' }), { send_at: null }).send_at).toBeNull())
})

test('absent members do not change, and duplicates are dropped', () => {
  const tagged = applied('blast', draft, { tags: ['b', 'a', 'b'], list_ids: [2, 1, 2], exclusion_list_ids: [3, 3] })
  expect(tagged).toMatchObject({ tags: ['b', 'a'], list_ids: [2, 1], exclusion_list_ids: [3] })
  expect(applied('blast', tagged, { name: 'Autumn' })).toEqual({ ...tagged, name: 'Autumn' })
})

test('a copy is a draft without send_at, and its name is shortened to fit', () => {
  const original = {
    ...applied('blast', draft, { send_at: '2026-12-01', tags: ['x'] }),
    name: '🔔'.repeat(255),
    state: 'finished' as const,
  }
  const copy = copyOf(original, 'copy')
  expect(copy).toEqual({ ...original, name: `${'🔔'.repeat(248)} (copy)`, slug: 'copy', state: 'draft', send_at: null })
})

describe('a new send_at', () => {
  const running = { ...applied('blast', draft, { send_at: '2026-12-01T09:00Z' }), state: 'running' as const }

  test.each([
    ['withdraws a blast that is being sent', running, { send_at: '2026-12-02' }, 'aborting'],
    ['withdraws it when only the time zones change', running, { send_in_user_timezone: true }, 'aborting'],
    ['withdraws it when the current state is written as well', running, { send_at: '2026-12-02', state: 'running' as const }, 'aborting'],
    ['changes no state when the instant is the same', running, { send_at: '2026-12-01T20:00+11:00' }, 'running'],
    ['aborts the blast when that is written as well', running, { send_at: '2026-12-02', state: 'aborted' as const }, 'aborted'],
    ['keeps a scheduled blast scheduled', { ...running, state: 'scheduled' as const }, { send_at: '2026-12-02' }, 'scheduled'],
    ['keeps an aborting blast aborting', { ...running, state: 'aborting' as const }, { send_at: '2026-12-02' }, 'aborting'],
    ['keeps a finished blast finished', { ...running, state: 'finished' as const }, { send_at: '2026-12-02' }, 'finished'],
  ])('%s', (_, before, changes, state) => expect(applied('blast', before, changes).state).toBe(state))

  test('changes no state of a trigger', () => expect(applied('trigger', running, { send_at: '2026-12-02' }).state).toBe('running'))
})

test.each([
  [false, '2026-12-01T09:00:00.000Z', '2026-12-01T09:00:00.000Z'],
  [true, '2026-12-01T09:00:00.000', '2026-11-30T19:00:00.000Z'],
  [false, null, undefined],
])('a blast in each user’s time zone (%s) at %s is due at %s', (send_in_user_timezone, send_at, expected) =>
  expect(dueAt({ send_at, send_in_user_timezone })?.toISOString()).toBe(expected),
)

describe('fields fixed by loading', () => {
  const at = new Date('2026-12-01T09:00:00Z')
  const row = (more: Partial<CampaignRow>): CampaignRow => ({
    ...applied('blast', draft, { send_at: '2026-12-01T09:00Z', list_ids: [1] }),
    id: 1 as CampaignId,
    project_id: 1 as ProjectId,
    is_direct: false,
    type: 'blast',
    channel: 'email',
    state: 'running',
    winner_variant: null,
    paused_at: null,
    paused_reason: null,
    started_at: at,
    finished_at: null,
    archived_at: null,
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
  ])('to %o the write %o is too late for %j', (more, changes, late) => expect(write(row(more), changes)).toEqual(late))
})
