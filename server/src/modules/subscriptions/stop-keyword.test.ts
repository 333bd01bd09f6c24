/**
 * A user who opted out gets nothing until the user or an API call opts in again, whatever the order of API calls, pages, text messages
 * and merges. The gate uses one seed; `STOP_SEED` and `STOP_RUNS` try others.
 */
import fc from 'fast-check'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { seedFrom } from '../../../test/random.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { SubscriptionId, UserId } from '../../lib/ids.ts'
import { isSubscribed, linksOf, receiveText, subscriptionStates, suppressedAmong } from './index.ts'

const SEED = seedFrom('STOP_SEED')
const RUNS = Number(process.env.STOP_RUNS ?? 12)

const TYPES = '/api/client/subscriptions'

type Name = 'kim' | 'lee' | 'visitor'
type Step =
  | { do: 'api'; who: Name; type: number; state: 0 | 1 | 2 }
  | { do: 'click' | 'page' | 'toggle'; who: Name; type: number }
  | { do: 'everything' | 'confirm' | 'me'; who: Name; type: number }
  | { do: 'text'; who: 'kim' | 'lee'; word: 'STOP' | 'START' }
  | { do: 'merge' }

const name = fc.constantFrom<Name>('kim', 'lee', 'visitor')
const type = fc.nat(3)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('api' as const), who: name, type, state: fc.constantFrom<0 | 1 | 2>(0, 1, 2) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('click' as const, 'page' as const, 'toggle' as const), who: name, type }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('everything' as const, 'confirm' as const, 'me' as const), who: name, type }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('text' as const),
      who: fc.constantFrom('kim' as const, 'lee' as const),
      word: fc.constantFrom('STOP' as const, 'START' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'merge' as const }) },
)

/** The opt-outs that the steps add up to. */
type Expected = {
  /** By user and type: a separate opt-out, or part of an opt-out from everything, which START reverses. */
  optOuts: Map<string, 'own' | 'everything'>
  /** Addresses of users who unsubscribed from everything. */
  addresses: Set<string>
}

type Cast = {
  w: World
  run: number
  types: { id: SubscriptionId; channel: string }[]
  ids: Map<Name, UserId>
  expected: Expected
  merged: boolean
}

const external = ({ run }: Cast, who: Name) => `${who}-${run}`
/** Kim and Lee share a phone number; the visitor has no address. */
const phoneOf = ({ run }: Cast) => `+614${String(10_000_000 + run)}`
const emailOf = (cast: Cast, who: Name) => `${external(cast, who)}@example.com`
const addressesOf = (cast: Cast, who: Name): [channel: string, address: string][] =>
  who === 'visitor'
    ? []
    : [
        ['email', emailOf(cast, who)],
        ['text', phoneOf(cast)],
      ]
const present = ({ merged }: Cast): Name[] => (merged ? ['kim', 'lee'] : ['kim', 'lee', 'visitor'])
/** The user of a name, after the visitor may have been merged into Kim. */
const userOf = ({ merged }: Cast, who: Name): Name => (merged && who === 'visitor' ? 'kim' : who)

async function open(w: World, run: number): Promise<Cast> {
  const { body } = await w.get(`${TYPES}?limit=100`)
  const types = body.results.filter(({ name }: { name: string }) => /^(Default (Email|SMS|Push)|News)$/.test(name))
  const cast: Cast = { w, run, types, ids: new Map(), expected: { optOuts: new Map(), addresses: new Set() }, merged: false }
  const saved = await w.post('/api/client/users/batch', [
    { external_id: external(cast, 'kim'), email: emailOf(cast, 'kim'), phone: phoneOf(cast) },
    { external_id: external(cast, 'lee'), email: emailOf(cast, 'lee'), phone: phoneOf(cast) },
    { anonymous_id: external(cast, 'visitor') },
  ])
  for (const [at, who] of (['kim', 'lee', 'visitor'] as const).entries()) cast.ids.set(who, saved.body.results[at].user.id)
  return cast
}

const typeAt = ({ types }: Cast, at: number) => types[at] as { id: SubscriptionId; channel: string }
const optOut = ({ expected }: Cast, who: Name, at: number, kind: 'own' | 'everything') => {
  const key = `${who} ${at}`
  // A repeated opt-out changes nothing and adds no consent entry.
  if (!expected.optOuts.has(key)) expected.optOuts.set(key, kind)
}
/** What is asked for by a message to a phone number is asked for both users with the number. */
const optOutByNumber = (cast: Cast, who: Name, at: number, kind: 'own' | 'everything') => {
  const users: Name[] = typeAt(cast, at).channel === 'text' && who !== 'visitor' ? ['kim', 'lee'] : [who]
  for (const user of users) optOut(cast, user, at, kind)
}
const optIn = ({ expected }: Cast, who: Name, at: number) => expected.optOuts.delete(`${who} ${at}`)

async function take(cast: Cast, step: Step): Promise<void> {
  const { w } = cast
  if (step.do === 'merge') return merge(cast)
  if (step.do === 'text') return text(cast, step.word)
  const who = userOf(cast, step.who)
  const { id, channel } = typeAt(cast, step.type)
  // The links are those of messages from before the merge.
  const links = linksOf(w.ctx, { projectId: w.projectId, userId: cast.ids.get(step.who) as UserId, subscriptionId: id, messageId: null })
  const path = (url: string) => url.slice('http://carillon.test'.length)
  const post = (url: string, fields: string) => w.form(path(url), fields, { key: null })
  switch (step.do) {
    case 'api':
      await w.patch(`/api/client/users/${external(cast, who)}/subscriptions`, [{ subscription_id: id, state: step.state }])
      return void (step.state === 0 ? optOut(cast, who, step.type, 'own') : optIn(cast, who, step.type))
    case 'me': {
      if (who === 'visitor') return
      const options = { key: w.keys.public, headers: { 'x-service-user-token': await w.token(external(cast, who)) } }
      await w.patch('/api/client/users/me/subscriptions', [{ subscription_id: id, state: 1 }], options)
      return void optIn(cast, who, step.type)
    }
    case 'click':
      await post(links.unsubscribe_url, 'List-Unsubscribe=One-Click')
      return optOutByNumber(cast, who, step.type, 'own')
    case 'page':
      await post(links.unsubscribe_url, 'unsubscribe=yes')
      return optOutByNumber(cast, who, step.type, 'own')
    case 'toggle': {
      const isOn = new RegExp(`name="on" value="${id}" checked`).test((await w.get(path(links.preferences_url), { key: null })).text)
      await post(links.preferences_url, isOn ? `shown=${id}` : `shown=${id}&on=${id}`)
      if (isOn) return optOutByNumber(cast, who, step.type, 'own')
      optIn(cast, who, step.type)
      return lifted(cast, who, channel)
    }
    case 'everything':
      await post(links.preferences_url, 'all=yes')
      for (const at of cast.types.keys()) optOutByNumber(cast, who, at, 'everything')
      for (const address of addressesOf(cast, who)) cast.expected.addresses.add(address.join(' '))
      return
    case 'confirm':
      return confirm(cast, who, step.type)
    default:
      return step satisfies never
  }
}

/** A user who subscribes on a channel lifts the suppression of the address. */
function lifted({ expected, ...cast }: Cast, who: Name, channel: string): void {
  for (const address of addressesOf({ expected, ...cast }, who)) if (address[0] === channel) expected.addresses.delete(address.join(' '))
}

/** Opens the last confirmation link for the user and the type, if there is one. */
async function confirm(cast: Cast, who: Name, at: number): Promise<void> {
  const { w } = cast
  await w.drain()
  const { id, channel } = typeAt(cast, at)
  const { results } = (await w.get(`/api/client/users/${external(cast, who)}/events?limit=100`)).body
  const asked = results.find((event: any) => event.name === 'subscription_confirmation_requested' && event.data.subscription_id === id)
  if (!asked) return
  const [row] = await statesOf(cast, who, [at])
  await w.form(asked.data.confirm_url.slice('http://carillon.test'.length), 'confirm=yes', { key: null })
  optIn(cast, who, at)
  if (row?.state !== 2) lifted(cast, who, channel)
}

async function text(cast: Cast, word: 'STOP' | 'START'): Promise<void> {
  const { w, expected, types } = cast
  await receiveText(w.ctx, phoneOf(cast), word)
  const texts = [...types.keys()].filter((at) => typeAt(cast, at).channel === 'text')
  for (const who of ['kim', 'lee'] as const) {
    for (const at of texts) {
      if (word === 'STOP') optOut(cast, who, at, 'everything')
      else if (expected.optOuts.get(`${who} ${at}`) === 'everything') optIn(cast, who, at)
    }
  }
  if (word === 'STOP') expected.addresses.add(`text ${phoneOf(cast)}`)
  else expected.addresses.delete(`text ${phoneOf(cast)}`)
}

/** Merges the visitor into Kim. An opt-out of either is one of both, and START does not reverse it. */
async function merge(cast: Cast): Promise<void> {
  if (cast.merged) return
  await cast.w.post('/api/client/users/batch', [{ external_id: external(cast, 'kim'), anonymous_id: external(cast, 'visitor') }])
  for (const at of cast.types.keys()) {
    const anonymous = cast.expected.optOuts.get(`visitor ${at}`)
    if (anonymous) cast.expected.optOuts.set(`kim ${at}`, 'own')
    cast.expected.optOuts.delete(`visitor ${at}`)
  }
  cast.merged = true
}

const statesOf = (cast: Cast, who: Name, at: number[]) =>
  subscriptionStates(
    cast.w.ctx,
    at.map((at) => ({ user_id: cast.ids.get(who) as UserId, subscription_id: typeAt(cast, at).id })),
  )

async function check(cast: Cast): Promise<void> {
  const { w, expected, types } = cast
  const strays = sql`
    select u.user_id from user_subscriptions u
    left join lateral (
      select e.id, e.state from consent_entries e
      where e.project_id = u.project_id and e.user_id = u.user_id and e.subscription_id = u.subscription_id
      order by e.id desc limit 1
    ) e on true
    where u.project_id = ${w.projectId} and (e.id is distinct from u.consent_id or e.state is distinct from u.state)`
  expect(await w.db.many(Type.Object({ user_id: Type.Integer() }), strays)).toEqual([])
  for (const who of present(cast)) {
    const rows = await statesOf(cast, who, [...types.keys()])
    for (const at of types.keys()) {
      const { id, channel } = typeAt(cast, at)
      const row = rows.find(({ subscription_id }) => subscription_id === id)
      const address = addressesOf(cast, who).find(([of]) => of === channel)
      const gets = row && isSubscribed(row) && !(address && (await suppressedAmong(w.ctx, channel as 'email', [address[1]])).size > 0)
      const optedOut = expected.optOuts.has(`${who} ${at}`) || (address && expected.addresses.has(address.join(' ')))
      if (optedOut) expect([who, at, gets]).toEqual([who, at, false])
    }
  }
}

test('a user who opted out gets nothing until the next opt-in, and the last consent entry has the current state', {
  timeout: 300_000,
}, async () => {
  await using w = await world()
  await w.post(TYPES, { name: 'News', channel: 'email', default_state: 0, requires_confirmation: true })
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), async (steps) => {
      const cast = await open(w, ++run)
      for (const step of steps) {
        await take(cast, step)
        await check(cast)
      }
    }),
    { seed: SEED, numRuns: RUNS },
  )
})
