/** Each process caches the user of an id. When an id moves to another user, every process resolves it to that user at once. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../../../test/blasts.ts'
import { type World, world } from '../../../test/world.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import type { knownIds } from './identify-users.ts'
import type { Profile } from './identity.ts'

type Process = { knownIds: typeof knownIds }

/** The same code with a cache of its own, as in another process. */
const anotherProcess = async (name: string) => (await import(/* @vite-ignore */ `./identify-users.ts?process=${name}`)) as Process

let w: World
beforeAll(async () => {
  w = await world()
})
afterAll(() => w[Symbol.asyncDispose]())

const save = async (...items: object[]) => {
  const { body } = await w.post('/api/client/users/batch', items)
  expect(body.failed).toBe(0)
}
const idOf = async (name: string): Promise<UserId> => (await w.get(`/api/client/users/${name}`)).body.id

type Ids = Pick<Profile, 'external_id' | 'anonymous_id'>

/** The user of an id, as a process resolves it when it applies events. */
async function resolvedUser({ knownIds }: Process, ids: Ids): Promise<UserId | undefined> {
  const known = await inTx(w.ctx, (ctx) => knownIds(ctx, [{ profile: ids, at: w.clock.now() }], true))
  return ids.external_id === undefined ? known.byAnonymousId.get(ids.anonymous_id ?? '') : known.byExternalId.get(ids.external_id)
}

const linked = (name: string) => ({ external_id: name, anonymous_id: `device-of-${name}` })

test.each<[string, Ids, () => Promise<UserId | undefined>]>([
  [
    'a shared device that logs in by the API',
    { anonymous_id: 'device-of-ana' },
    async () => {
      await save({ external_id: 'bo', anonymous_id: 'device-of-ana' })
      return idOf('bo')
    },
  ],
  [
    'a shared device that logs in by an event',
    { anonymous_id: 'device-of-cy' },
    async () => {
      await w.post('/api/client/events', [{ name: 'login', external_id: 'di', anonymous_id: 'device-of-cy' }])
      await run(w, 'ingest.apply')
      return idOf('di')
    },
  ],
  [
    'an anonymous user who is identified',
    { anonymous_id: 'visitor' },
    async () => {
      await save({ external_id: 'ed', anonymous_id: 'visitor' })
      return idOf('ed')
    },
  ],
  [
    'a user who is deleted and saved again',
    { external_id: 'flo' },
    async () => {
      expect((await w.delete('/api/client/users/flo')).status).toBe(204)
      await save({ external_id: 'flo' })
      return idOf('flo')
    },
  ],
  [
    'the device of a user who is deleted',
    { anonymous_id: 'device-of-gil' },
    async () => {
      expect((await w.delete('/api/client/users/gil')).status).toBe(204)
      return undefined
    },
  ],
])('%s', async (_, ids, move) => {
  await save(...['ana', 'bo', 'cy', 'di', 'ed', 'flo', 'gil'].map(linked), { anonymous_id: 'visitor' })
  const processes = [await anotherProcess('one'), await anotherProcess('two')]
  const before = await Promise.all(processes.map((process) => resolvedUser(process, ids)))
  expect(before).toEqual([expect.any(Number), before[0]])
  const after = await move()
  expect(after).not.toBe(before[0])
  for (const process of processes) expect(await resolvedUser(process, ids)).toBe(after)
})

test('an event of a device that has moved belongs to the new user, in a process that had cached the old one', async () => {
  await save(linked('hal'), { external_id: 'ivy' })
  const look = async () => {
    await w.post('/api/client/events', [{ name: 'looked', anonymous_id: 'device-of-hal' }])
    await run(w, 'ingest.apply')
  }
  await look()
  await look()
  await save({ external_id: 'ivy', anonymous_id: 'device-of-hal' })
  await look()
  const times = async (name: string) => (await w.get(`/api/client/users/${name}/events?name=looked`)).body.results.length
  expect([await times('hal'), await times('ivy')]).toEqual([2, 1])
})
