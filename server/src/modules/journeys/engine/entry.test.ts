import { describe, expect, test } from 'vitest'
import type { JourneyId, ListId, UserId } from '../../../lib/ids.ts'
import { HOUR_MS } from '../../../lib/times.ts'
import { armOf } from '../hashes.ts'
import type { EntranceSettings } from '../steps/entrance.ts'
import { DEPTH_MAX, decideEntry, type EntryFact, type EntryState, entrancesFor, entrancesOf } from './entry.ts'
import { causes, entranceId, isHeldOut } from './ids.ts'

const at = (text: string) => new Date(text)
const JOURNEY = 11 as JourneyId
const USER = 1 as UserId
const LIST = 12 as ListId

const graphOf = (entrances: Record<string, EntranceSettings>) =>
  entrancesOf(Object.entries(entrances).map(([external_id, data]) => ({ external_id, type: 'entrance', data })))

const purchase: EntryFact = {
  is: 'event',
  cause: causes.event('e1'),
  at: at('2026-11-23T09:00:00Z'),
  depth: 0,
  data: { total: 20, cart: 'c-1' },
  name: 'purchase',
  isSystem: false,
  ofJourney: null,
  isImport: false,
  isInherited: false,
}

const outside: EntryState = {
  journeyId: JOURNEY,
  userId: USER,
  isLive: true,
  now: at('2026-11-23T09:00:00Z'),
  factAgeMaxMs: 72 * HOUR_MS,
  holdoutPercent: 0,
  exclusionListIds: [],
  entriesPerDayMax: 50,
  ruleHolds: () => true,
  isIn: () => false,
  isInside: () => false,
  hasEntered: () => false,
  lastEnteredAt: null,
  enteredToday: 0,
}

const BUYS: EntranceSettings = { trigger: 'event', event_name: 'purchase', multiple: true }

describe('a fact is for', () => {
  const graph = graphOf({
    z: { trigger: 'event', event_name: 'purchase' },
    a: { trigger: 'event', event_name: 'purchase' },
    b: { trigger: 'event', event_name: 'user_created' },
    c: { trigger: 'event', event_name: 'user_created', imports: true },
    d: { trigger: 'event', event_name: 'email_clicked' },
    e: { trigger: 'event', event_name: 'user_updated' },
    f: { trigger: 'list', list_id: LIST },
    g: { trigger: 'list', list_id: LIST, change: 'left' },
    h: { trigger: 'schedule', list_id: LIST, schedule: 'FREQ=DAILY' },
    i: { trigger: 'none' },
    j: { trigger: 'api' },
  })
  const base = { cause: 'x:1', at: outside.now, depth: 0, data: {} }
  const event = (name: string, more: object = {}): EntryFact => ({ ...purchase, name, ...more }) as EntryFact
  test.each<[string, EntryFact, string[]]>([
    ['an event: in the order of the keys', event('purchase'), ['a', 'z']],
    ['another event', event('login'), []],
    ['a user who is created', event('user_created', { isSystem: true }), ['b', 'c']],
    ['a user whom an import creates', event('user_created', { isSystem: true, isImport: true }), ['c']],
    ['a click in another message', event('email_clicked', { isSystem: true }), ['d']],
    ['a click in a message of this journey', event('email_clicked', { isSystem: true, ofJourney: JOURNEY }), []],
    ['a system event that starts nothing', event('user_updated', { isSystem: true }), []],
    ['entering a list', { ...base, is: 'membership', listId: LIST, entered: true }, ['f']],
    ['leaving a list', { ...base, is: 'membership', listId: LIST, entered: false }, ['g']],
    ['another list', { ...base, is: 'membership', listId: 13 as ListId, entered: true }, []],
    ['a schedule', { ...base, is: 'sweep', step: 'h', unlessEnteredSince: null }, ['h']],
    ['a request', { ...base, is: 'api', step: null, key: null }, ['j']],
    ['a request with an entrance', { ...base, is: 'api', step: 'a', key: null }, ['a']],
    ['a request with an unknown entrance', { ...base, is: 'api', step: 'nope', key: null }, []],
    ['a link', { ...base, is: 'link', step: null }, ['i']],
    ['a link to an entrance', { ...base, is: 'link', step: 'z' }, ['z']],
  ])('%s', (_, fact, steps) => {
    expect(entrancesFor(graph, JOURNEY, fact).map(({ step }) => step)).toEqual(steps)
  })

  test('a link without an entrance takes the first one, whatever its trigger, if no other is meant for it', () => {
    expect(entrancesFor(graphOf({ z: BUYS, y: { trigger: 'list' } }), JOURNEY, { ...base, is: 'link', step: null })).toMatchObject([
      { step: 'z' },
    ])
  })
})

describe('a user', () => {
  const decided = (settings: EntranceSettings, state: Partial<EntryState> = {}, fact: Partial<EntryFact> = {}) => {
    const entry = decideEntry(graphOf({ a: settings }), { ...purchase, ...fact } as EntryFact, { ...outside, ...state })
    return entry === undefined ? undefined : entry.is === 'refused' ? entry.reason : entry.is
  }
  const inside = { isInside: () => true, hasEntered: () => true, lastEnteredAt: at('2026-11-23T08:00:00Z') }
  const before = { hasEntered: () => true, lastEnteredAt: at('2026-11-22T09:00:00Z') }
  const all: Partial<EntryState> = {
    isLive: false,
    ruleHolds: () => false,
    holdoutPercent: 100,
    exclusionListIds: [LIST],
    isIn: () => true,
    ...inside,
    enteredToday: 50,
  }
  const ruled: EntranceSettings = {
    ...BUYS,
    rule: { list: 1 },
    where: [{ attribute: 'data.total', greater_than: 10 }],
    reenter_after: '2d',
  }

  test.each<[string, EntranceSettings, Partial<EntryState>, Partial<EntryFact>, string | undefined]>([
    ['enters', BUYS, {}, {}, 'enter'],
    ['does not enter by another event', BUYS, {}, { name: 'login' } as Partial<EntryFact>, undefined],
    ['status', BUYS, { isLive: false }, {}, 'not_live'],
    ['exactly 72 hours old', BUYS, {}, { at: at('2026-11-20T09:00:00.000Z') }, 'enter'],
    ['older than 72 hours', BUYS, {}, { at: at('2026-11-20T08:59:59.999Z') }, 'too_old'],
    ['as old as the setting allows', BUYS, { factAgeMaxMs: 24 * HOUR_MS }, { at: at('2026-11-22T09:00:00.000Z') }, 'enter'],
    ['older than the setting allows', BUYS, { factAgeMaxMs: 24 * HOUR_MS }, { at: at('2026-11-22T08:59:59.999Z') }, 'too_old'],
    ['inherited by a merge', BUYS, {}, { isInherited: true } as Partial<EntryFact>, 'inherited'],
    ['tests of the data', ruled, {}, { data: { total: 5 } }, 'where'],
    ['the rule', ruled, { ruleHolds: () => false }, {}, 'rule'],
    ['no key', { ...BUYS, entry_key: 'data.order' }, {}, {}, 'key_missing'],
    ['a key that is no scalar', { ...BUYS, entry_key: 'data.cart' }, {}, { data: { cart: {} } }, 'key_missing'],
    ['a key that is null', { ...BUYS, entry_key: 'data.cart' }, {}, { data: { cart: null } }, 'key_missing'],
    ['a key of 255 characters', { ...BUYS, entry_key: 'data.cart' }, {}, { data: { cart: 'c'.repeat(255) } }, 'enter'],
    ['a key of 255 emoji', { ...BUYS, entry_key: 'data.cart' }, {}, { data: { cart: '🙂'.repeat(255) } }, 'enter'],
    ['a key of 256 emoji', { ...BUYS, entry_key: 'data.cart' }, {}, { data: { cart: '🙂'.repeat(256) } }, 'key_missing'],
    ['a key that is too long', { ...BUYS, entry_key: 'data.cart' }, {}, { data: { cart: 'c'.repeat(256) } }, 'key_missing'],
    ['an exclusion list', BUYS, { exclusionListIds: [LIST], isIn: () => true }, {}, 'excluded'],
    ['the hold-out', BUYS, { holdoutPercent: 100 }, {}, 'held_out'],
    ['once ever, for the first time', { ...BUYS, multiple: false }, {}, {}, 'enter'],
    ['once ever, after leaving', { ...BUYS, multiple: false }, before, {}, 'once_only'],
    ['once ever, while inside', { ...BUYS, multiple: false }, inside, {}, 'already_inside'],
    ['once at a time, after leaving', BUYS, before, {}, 'enter'],
    ['once at a time, while inside', BUYS, inside, {}, 'already_inside'],
    ['a repetition restarts', { ...BUYS, on_repeat: 'restart' }, inside, {}, 'restart'],
    ['a repetition restarts also soon', { ...BUYS, on_repeat: 'restart', reenter_after: '2d' }, inside, {}, 'restart'],
    ['a repetition replaces the event', { ...BUYS, on_repeat: 'update' }, inside, {}, 'update'],
    ['no repetition while outside', { ...BUYS, on_repeat: 'restart' }, before, {}, 'enter'],
    ['too soon', { ...BUYS, reenter_after: '2d' }, before, {}, 'reenter_after'],
    ['soon enough', { ...BUYS, reenter_after: '1d' }, before, {}, 'enter'],
    ['the daily maximum', BUYS, { enteredToday: 50 }, {}, 'daily_maximum'],
    ['the daily maximum counts for restarts', { ...BUYS, on_repeat: 'restart' }, { ...inside, enteredToday: 50 }, {}, 'daily_maximum'],
    ['a depth of 8', BUYS, {}, { depth: DEPTH_MAX }, 'enter'],
    ['a depth of 9', BUYS, {}, { depth: DEPTH_MAX + 1 }, 'loop_depth'],
  ])('%s', (_, settings, state, fact, expected) => {
    expect(decided(settings, state, fact)).toBe(expected)
  })

  test('is refused for the first reason in the order of the checks', () => {
    const order: [EntryFact | object, Partial<EntryState>, string][] = [
      [{ at: at('2026-11-01T00:00:00Z'), isInherited: true, data: {} }, {}, 'not_live'],
      [{ at: at('2026-11-01T00:00:00Z'), isInherited: true, data: {} }, { isLive: true }, 'too_old'],
      [{ isInherited: true, data: {} }, { isLive: true }, 'inherited'],
      [{ data: {} }, { isLive: true }, 'where'],
      [{}, { isLive: true }, 'rule'],
      [{ depth: 9 }, { isLive: true, ruleHolds: () => true }, 'excluded'],
      [{ depth: 9 }, { isLive: true, ruleHolds: () => true, isIn: () => false }, 'held_out'],
      [{ depth: 9 }, { isLive: true, ruleHolds: () => true, isIn: () => false, holdoutPercent: 0 }, 'already_inside'],
      [{ depth: 9 }, { isLive: true, ruleHolds: () => true, isIn: () => false, holdoutPercent: 0, isInside: () => false }, 'reenter_after'],
    ]
    for (const [fact, state, reason] of order) expect(decided(ruled, { ...all, ...state }, fact as Partial<EntryFact>)).toBe(reason)
    const last = { ...all, isLive: true, ruleHolds: () => true, isIn: () => false, holdoutPercent: 0, isInside: () => false }
    expect(decided({ ...ruled, multiple: false }, last, { depth: 9 })).toBe('once_only')
    expect(decided(BUYS, last, { depth: 9 })).toBe('daily_maximum')
    expect(decided(BUYS, { ...last, enteredToday: 0 }, { depth: 9 })).toBe('loop_depth')
  })

  test('enters by the first entrance whose conditions are met', () => {
    const graph = graphOf({ b: BUYS, a: { ...BUYS, where: [{ attribute: 'data.total', greater_than: 100 }] } })
    expect(decideEntry(graph, purchase, outside)).toMatchObject({ is: 'enter', entrance: { step: 'b' } })
    expect(decideEntry(graph, { ...purchase, data: { total: 200 } }, outside)).toMatchObject({ entrance: { step: 'a' } })
  })

  test.each<[string, EntranceSettings, Partial<EntryFact>, { key: string | null; slot: string }]>([
    ['once ever', { ...BUYS, multiple: false }, {}, { key: null, slot: '' }],
    ['once at a time', BUYS, {}, { key: null, slot: '' }],
    ['once at a time for each key', { ...BUYS, entry_key: 'data.cart' }, {}, { key: 'c-1', slot: 'c-1' }],
    ['a number as key', { ...BUYS, entry_key: 'data.total' }, {}, { key: '20', slot: '20' }],
    ['every time', { ...BUYS, concurrent: true }, {}, { key: null, slot: 'event:e1' }],
    ['every time, with a key', { ...BUYS, concurrent: true, entry_key: 'data.cart' }, {}, { key: 'c-1', slot: 'event:e1' }],
    ['the key of a request', { trigger: 'api', multiple: true }, { is: 'api', step: null, key: 'k' }, { key: 'k', slot: 'k' }],
  ])('gets a slot: %s', (_, settings, fact, expected) => {
    const entry = decideEntry(graphOf({ a: settings }), { ...purchase, ...fact } as EntryFact, outside)
    expect(entry).toMatchObject({ is: 'enter', ...expected, id: entranceId(JOURNEY, purchase.cause, USER), depth: 0 })
  })
})

describe('ids and shares', () => {
  test('an entrance id is a safe integer that depends on the journey, the cause and the user', () => {
    const id = entranceId(JOURNEY, 'event:e1', USER)
    // The first 13 digits of the SHA-256 of `[11,"event:e1",1]`.
    expect(id).toBe(0x0e3fb42a6e66e)
    expect(Number.isSafeInteger(id)).toBe(true)
    const others = [
      entranceId(12 as JourneyId, 'event:e1', USER),
      entranceId(JOURNEY, 'event:e2', USER),
      entranceId(JOURNEY, 'event:e1', 2 as UserId),
    ]
    expect(new Set([id, ...others]).size).toBe(4)
  })

  const users = Array.from({ length: 20_000 }, (_, id) => id + 1)
  const arms = (branches: { path: string; weight: number }[]) => users.map((id) => armOf(JOURNEY, 'split', id, branches))
  const shareOf = (paths: (string | undefined)[], path: string) => paths.filter((one) => one === path).length / users.length

  test('the paths of an experiment get their shares', () => {
    const paths = arms([
      { path: 'a', weight: 3 },
      { path: 'b', weight: 1 },
      { path: 'none', weight: 0 },
    ])
    expect(shareOf(paths, 'a')).toBeCloseTo(0.75, 1.5)
    expect(shareOf(paths, 'b')).toBeCloseTo(0.25, 1.5)
    expect(shareOf(paths, 'none')).toBe(0)
    expect(armOf(JOURNEY, 'split', 1, [{ path: 'a', weight: 0 }])).toBeUndefined()
  })

  test('a changed weight or a new path moves only the users that it has to', () => {
    const before = arms([
      { path: 'a', weight: 1 },
      { path: 'b', weight: 1 },
    ])
    const heavier = arms([
      { path: 'a', weight: 3 },
      { path: 'b', weight: 1 },
    ])
    const third = arms([
      { path: 'c', weight: 1 },
      { path: 'b', weight: 1 },
      { path: 'a', weight: 1 },
    ])
    expect(before.every((path, at) => path === heavier[at] || heavier[at] === 'a')).toBe(true)
    expect(before.every((path, at) => path === third[at] || third[at] === 'c')).toBe(true)
    expect(shareOf(third, 'c')).toBeCloseTo(1 / 3, 1.5)
  })

  test('held-out users stay held out when the percentage rises', () => {
    const held = (percent: number) => users.filter((id) => isHeldOut(JOURNEY, id, percent))
    expect(held(0)).toEqual([])
    expect(held(100)).toEqual(users)
    expect(held(10).length / users.length).toBeCloseTo(0.1, 1.5)
    const more = new Set(held(20))
    expect(held(10).every((id) => more.has(id))).toBe(true)
  })
})
