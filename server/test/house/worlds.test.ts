/** Worlds take over the server of another world, and nothing else of it. */
import { expect, test } from 'vitest'
import { openFakeProvider } from '../fake-provider.ts'
import { type World, world } from '../world.ts'

const call = async (w: World, url: string) => {
  const limits = { timeoutMs: 20_000, connectTimeoutMs: 20_000, responseBytesMax: 100 }
  return w.ctx.fetch.request({ method: 'POST', url, body: '{}', ...limits })
}

test('what a test replaces in the HTTP client of its world is not in the next world', async () => {
  let server: unknown
  {
    await using w = await world()
    await using provider = await openFakeProvider()
    provider.answer({ status: 204 })
    w.replaceFetch({ request: provider.fetch.request, policy: { ...w.ctx.fetch.policy, allowed: [] } })
    expect(await call(w, 'https://push.example.com/')).toMatchObject({ is: 'answered', status: 204 })
    server = w.app
  }
  await using w = await world()
  expect(w.app).toBe(server)
  const receiver = await w.receiver()
  expect(w.ctx.fetch.policy.allowed).not.toEqual([])
  expect(await call(w, receiver.url)).toMatchObject({ is: 'answered', status: 200 })
  expect(receiver.requests).toHaveLength(1)
})

test('a test cannot write to the context that the next world gets', async () => {
  await using w = await world()
  const forever = { request: () => Promise.reject(new Error('Replaced.')) }
  expect(() => Object.assign(w.ctx.fetch, forever)).toThrow(TypeError)
})
