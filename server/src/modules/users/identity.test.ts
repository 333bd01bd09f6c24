import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { UserId } from '../../lib/ids.ts'
import { applyProfile, mergeData, noUsers, type Profile, sameJson, type UserRecord, type Users } from './identity.ts'

const NOON = new Date('2026-11-23T12:00:00.000Z')
const anyPhone = (item: Profile) => item.phone ?? null

const user = (id: number, { aliases = [], ...given }: Partial<Omit<UserRecord, 'aliases'>> & { aliases?: string[] }): UserRecord => ({
  id: id as UserId,
  external_id: null,
  anonymous_id: aliases.at(-1) ?? null,
  aliases: new Set(aliases),
  email: null,
  phone: null,
  timezone: null,
  locale: null,
  data: {},
  has_push_device: false,
  created_at: new Date('2026-11-01T00:00:00.000Z'),
  updated_at: new Date('2026-11-01T00:00:00.000Z'),
  mergedInto: null,
  ...given,
})

function usersOf(...known: UserRecord[]): Users {
  const users = noUsers()
  for (const one of known) {
    if (one.external_id !== null) users.byExternalId.set(one.external_id, one)
    for (const alias of one.aliases) {
      users.byAnonymousId.set(alias, one)
      users.stored.add(alias)
    }
  }
  return users
}

const apply = (users: Users, item: Profile) => applyProfile(users, item, NOON, anyPhone)
const userOf = (outcome: ReturnType<typeof apply>) => {
  if ('fault' in outcome) throw new Error(outcome.fault.message)
  return outcome.user
}

describe('the user that ids belong to (D-USER-1)', () => {
  const kim = () => user(1, { external_id: 'kim' })
  const anonymous = () => user(2, { aliases: ['a'] })
  const lee = () => user(3, { external_id: 'lee', aliases: ['a'] })
  test.each<
    [string, UserRecord[], Profile, { id: number | 'new'; external: string | null; anonymous: string | null; mergedAway: number[] }]
  >([
    ['ext only, known', [kim()], { external_id: 'kim' }, { id: 1, external: 'kim', anonymous: null, mergedAway: [] }],
    ['ext only, unknown', [], { external_id: 'kim' }, { id: 'new', external: 'kim', anonymous: null, mergedAway: [] }],
    [
      'ext only, unknown, and the anonymous id of an anonymous user',
      [anonymous()],
      { external_id: 'a' },
      { id: 'new', external: 'a', anonymous: null, mergedAway: [] },
    ],
    ['anon only, anonymous user', [anonymous()], { anonymous_id: 'a' }, { id: 2, external: null, anonymous: 'a', mergedAway: [] }],
    ['anon only, identified', [lee()], { anonymous_id: 'a' }, { id: 3, external: 'lee', anonymous: 'a', mergedAway: [] }],
    ['anon only, unknown', [], { anonymous_id: 'a' }, { id: 'new', external: null, anonymous: 'a', mergedAway: [] }],
    ['both, the same user', [lee()], { external_id: 'lee', anonymous_id: 'a' }, { id: 3, external: 'lee', anonymous: 'a', mergedAway: [] }],
    [
      'both, new anonymous id',
      [kim()],
      { external_id: 'kim', anonymous_id: 'b' },
      { id: 1, external: 'kim', anonymous: 'b', mergedAway: [] },
    ],
    [
      'both, an anonymous user is promoted and keeps the id',
      [anonymous()],
      { external_id: 'new', anonymous_id: 'a' },
      { id: 2, external: 'new', anonymous: 'a', mergedAway: [] },
    ],
    [
      'both, shared device: a new user takes the id',
      [lee()],
      { external_id: 'new', anonymous_id: 'a' },
      { id: 'new', external: 'new', anonymous: 'a', mergedAway: [] },
    ],
    [
      'both, an anonymous user is merged into the identified one',
      [kim(), anonymous()],
      { external_id: 'kim', anonymous_id: 'a' },
      { id: 1, external: 'kim', anonymous: 'a', mergedAway: [2] },
    ],
    [
      'both, two identified users: the id moves, and nothing is merged',
      [kim(), lee()],
      { external_id: 'kim', anonymous_id: 'a' },
      { id: 1, external: 'kim', anonymous: 'a', mergedAway: [] },
    ],
  ])('%s', (_, known, item, expected) => {
    const users = usersOf(...known)
    const found = userOf(apply(users, item))
    expect(found.id < 0 ? 'new' : found.id).toBe(expected.id)
    expect(found.external_id).toBe(expected.external)
    expect(found.anonymous_id).toBe(expected.anonymous)
    expect(users.merges.map(({ from }) => from.id)).toEqual(expected.mergedAway)
  })

  test('a user whose shared anonymous id was taken shows the one before it', () => {
    const former = user(3, { external_id: 'lee', aliases: ['old', 'a'] })
    apply(usersOf(former), { external_id: 'new', anonymous_id: 'a' })
    expect(former.anonymous_id).toBe('old')
  })
})

describe('merging', () => {
  test('the remaining user keeps its values, inherits the others, and has the earlier created_at', () => {
    const kim = user(1, {
      external_id: 'kim',
      email: 'kim@example.com',
      data: { plan: 'pro' },
      created_at: new Date('2026-11-10T00:00:00Z'),
    })
    const anonymous = user(2, {
      aliases: ['a'],
      email: 'other@example.com',
      locale: 'de',
      data: { plan: 'free', city: 'Bonn' },
      has_push_device: true,
      created_at: new Date('2026-11-02T00:00:00Z'),
    })
    const merged = userOf(apply(usersOf(kim, anonymous), { external_id: 'kim', anonymous_id: 'a' }))
    expect(merged).toMatchObject({
      email: 'kim@example.com',
      locale: 'de',
      data: { plan: 'pro', city: 'Bonn' },
      has_push_device: true,
      created_at: new Date('2026-11-02T00:00:00Z'),
    })
    expect(anonymous.mergedInto).toBe(kim)
  })

  test('a refused item merges nothing', () => {
    const users = usersOf(user(1, { external_id: 'kim' }), user(2, { aliases: ['a'], data: { big: 'x'.repeat(40_000) } }))
    expect(apply(users, { external_id: 'kim', anonymous_id: 'a', data: { more: 'y'.repeat(40_000) } })).toMatchObject({
      fault: { code: 'validation_failed' },
    })
    expect(users.merges).toEqual([])
    expect(users.touched.size).toBe(0)
  })

  const keys = (name: string) => Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${name}${at}`, 1]))
  test.each([
    [{ k0: 2 }, true],
    [{ k0: 'longer' }, true],
    [{ k0: null, more: 1 }, true],
    [{ k0: null }, true],
    [{ more: 1 }, false],
  ])('after a merge that led to more keys than users may have, %j is applied: %s', (data, isApplied) => {
    const users = usersOf(user(1, { external_id: 'kim', data: keys('k') }), user(2, { aliases: ['a'], data: keys('a') }))
    expect(Object.keys(userOf(apply(users, { external_id: 'kim', anonymous_id: 'a' })).data)).toHaveLength(400)
    expect('user' in apply(users, { external_id: 'kim', data })).toBe(isApplied)
  })

  test('after a merge that led to larger data than users may have, it can get smaller', () => {
    const half = (name: string) => ({ [name]: 'x'.repeat(40_000) })
    const users = usersOf(user(1, { external_id: 'kim', data: half('k') }), user(2, { aliases: ['a'], data: half('a') }))
    apply(users, { external_id: 'kim', anonymous_id: 'a' })
    for (const data of [{ more: 1 }, { k: 'y'.repeat(40_001) }])
      expect(apply(users, { external_id: 'kim', data })).toMatchObject({ fault: { param: 'data' } })
    expect(userOf(apply(users, { external_id: 'kim', data: { k: 'y'.repeat(39_000), more: 1 } })).data).toMatchObject({ more: 1 })
  })

  test('[{a}, {x}, {a, x}] in one batch ends in one user', () => {
    const users = noUsers()
    apply(users, { anonymous_id: 'a', data: { from: 'a' } })
    apply(users, { external_id: 'x', email: 'x@example.com' })
    const last = userOf(apply(users, { anonymous_id: 'a', external_id: 'x' }))
    expect(last).toMatchObject({ external_id: 'x', anonymous_id: 'a', email: 'x@example.com', data: { from: 'a' } })
    expect([...users.created].filter((one) => one.mergedInto === null)).toHaveLength(1)
  })
})

describe('data is merged at the top level (D-USER-4)', () => {
  test.each([
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: null }, { b: 2 }],
    [{ a: { x: 1 } }, { a: { y: 2 } }, { a: { y: 2 } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{}, { a: null }, {}],
  ])('%j and %j is %j', (old, given, expected) => expect(mergeData(old, given)).toEqual(expected))

  test('a member called __proto__ is data like any other', () => {
    const merged = mergeData({}, JSON.parse('{"__proto__":{"admin":true}}'))
    expect(Object.hasOwn(merged, '__proto__')).toBe(true)
    expect((merged as { admin?: boolean }).admin).toBeUndefined()
  })
})

test('updated_at changes only when something changed', () => {
  const kim = user(1, { external_id: 'kim', data: { a: { b: [1] }, c: 2 } })
  const before = kim.updated_at
  const users = usersOf(kim)
  apply(users, { external_id: 'kim', data: { c: 2, a: { b: [1] } }, email: null })
  expect(kim.updated_at).toBe(before)
  expect(users.touched.size).toBe(0)
  apply(users, { external_id: 'kim', data: { c: 3 } })
  expect(kim.updated_at).toBe(NOON)
})

test.each<[string, Profile]>([
  ['a change', { external_id: 'kim', email: 'kim@example.com' }],
  ['a link', { external_id: 'kim', anonymous_id: 'b' }],
  ['a merge', { external_id: 'kim', anonymous_id: 'a' }],
  ['a promotion', { external_id: 'new', anonymous_id: 'a' }],
  ['the loss of an anonymous id', { external_id: 'kim', anonymous_id: 'l' }],
])('updated_at does not move back when %s is applied late', (_, item) => {
  const updated_at = new Date('2026-11-23T12:00:05.000Z')
  const all = [
    user(1, { external_id: 'kim', updated_at }),
    user(2, { aliases: ['a'], updated_at }),
    user(3, { external_id: 'lee', aliases: ['l'], updated_at }),
  ]
  const users = usersOf(...all)
  apply(users, item)
  expect(users.touched.size).toBeGreaterThan(0)
  for (const one of all) expect(one.updated_at).toEqual(updated_at)
})

test('JSON values are the same in any order of members', () =>
  fc.assert(fc.property(fc.jsonValue(), (value) => sameJson(value, shuffled(JSON.parse(JSON.stringify(value)))))))

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, shuffled(inner)]),
  )
}

const id = (prefix: string) => fc.integer({ min: 0, max: 4 }).map((number) => `${prefix}${number}`)
const item = fc
  .record({
    external_id: fc.option(id('x'), { nil: undefined }),
    anonymous_id: fc.option(id('a'), { nil: undefined }),
    key: fc.integer({ min: 0, max: 3 }),
  })
  .filter(({ external_id, anonymous_id }) => external_id !== undefined || anonymous_id !== undefined)
  .map(
    ({ external_id, anonymous_id, key }): Profile => ({
      ...(external_id && { external_id }),
      ...(anonymous_id && { anonymous_id }),
      data: { [`k${key}`]: 1 },
    }),
  )

test('after any items, every id belongs to one live user, and no user has two external ids', () =>
  fc.assert(
    fc.property(fc.array(item, { maxLength: 30 }), (items) => {
      const users = noUsers()
      for (const one of items) {
        const found = userOf(apply(users, one))
        expect(found.mergedInto).toBeNull()
        if (one.external_id) expect(found.external_id).toBe(one.external_id)
      }
      for (const [external_id, owner] of users.byExternalId) expect(owner).toMatchObject({ external_id, mergedInto: null })
      for (const [anonymous_id, owner] of users.byAnonymousId) {
        expect(owner.mergedInto).toBeNull()
        expect(owner.aliases.has(anonymous_id)).toBe(true)
      }
      for (const one of users.created) if (one.anonymous_id !== null) expect(users.byAnonymousId.get(one.anonymous_id)).toBe(one)
    }),
  ))

test('linking the same anonymous users in any order ends in the same users', () =>
  fc.assert(
    fc.property(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), (order) => {
      const links = [0, 1, 2, 3].map((number): Profile => ({ external_id: 'kim', anonymous_id: `a${number}` }))
      const users = noUsers()
      for (const number of [0, 1, 2, 3]) apply(users, { anonymous_id: `a${number}`, data: { [`k${number}`]: number } })
      for (const at of order) apply(users, links[at] as Profile)
      const kim = users.byExternalId.get('kim')
      expect(kim?.data).toEqual({ k0: 0, k1: 1, k2: 2, k3: 3 })
      expect(new Set(users.byAnonymousId.values())).toEqual(new Set([kim]))
    }),
  ))
