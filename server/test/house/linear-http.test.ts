/** Headers and the parameters of utilities, in whole requests: whatever the server does with them takes time linear in their length. */
import type { FastifyInstance, InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allPages } from '../../src/routes.ts'
import { routes } from '../all-routes.ts'
import { type World, world } from '../world.ts'
import { ADVERSARIAL, RATIO_MAX } from './adversarial.ts'
import { sourcesOf } from './sources.ts'

/** Node refuses more than 16 KiB of headers. */
const HEADER_LENGTH = 16_384
const MEASURED_MS = 60
const ATTEMPTS = 4

/** One for all tests, which change nothing that another would see. */
let w: World
beforeAll(async () => {
  w = await world()
})
afterAll(() => w[Symbol.asyncDispose]())

/** Every header that the source names. */
const HEADERS = new Set(
  sourcesOf('server/src').flatMap(({ text }) =>
    [...text.matchAll(/(?:headers(?:\.|\[')|(?:headerOf|single)\([\w.]+, ')([a-z][a-z-]*)/g)].map(([, name]) => name as string),
  ),
)
// A request with another length or host is another request.
for (const name of ['content-length', 'host', 'length', 'map', 'get', 'filter', 'some', 'push', 'includes']) HEADERS.delete(name)

const CONTROL = /[^\x20-\x7e\xa0-\xff]/g

async function millisecondsOf(app: FastifyInstance, options: InjectOptions): Promise<number> {
  const before = process.threadCpuUsage()
  await app.inject(options)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** What is slow, for every text of the table. */
async function slow(name: string, length: number, optionsOf: (text: string) => InjectOptions): Promise<string[]> {
  const found: string[] = []
  for (const [kind, textOf] of Object.entries(ADVERSARIAL)) {
    let ratio = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < ATTEMPTS && ratio >= RATIO_MAX; attempt++) {
      const took = await millisecondsOf(w.app, optionsOf(textOf(length)))
      ratio = took < MEASURED_MS ? 0 : Math.min(ratio, took / (await millisecondsOf(w.app, optionsOf(textOf(length / 2)))))
    }
    if (ratio >= RATIO_MAX) found.push(`${name}, ${kind}: ${ratio.toFixed(1)} times what half of it took`)
  }
  return found
}

const filledPath = (path: string) => path.replaceAll(/\{\w+\}/g, '1')

describe('a header takes linear time', () => {
  const pages = allPages({ engagementBuffer: { add: () => undefined } as never })
  const apiRoutes = ['GET /api/client/users', 'POST /api/client/events', 'POST /api/client/imports'].flatMap((wanted) =>
    routes.filter(({ method, path }) => `${method} ${path}` === wanted),
  )
  const targets = [...pages, ...apiRoutes, { method: 'OPTIONS', path: '/api/client/events' }, { method: 'GET', path: '/docs' }]

  test.each([...HEADERS].sort())('%s', { timeout: 60_000 }, async (header) => {
    for (const { method, path } of targets) {
      const optionsOf = (text: string): InjectOptions => ({
        method: method as 'GET',
        url: filledPath(path),
        headers: { authorization: `Bearer ${w.keys.secret}`, [header]: text.replace(CONTROL, '') },
        ...(method === 'POST' && { payload: '{}' }),
      })
      expect(await slow(`${method} ${path} with ${header}`, HEADER_LENGTH, optionsOf)).toEqual([])
    }
  })
})

/** Percent-encoded, most texts are three times as long; a form may have 256 KiB. */
const FORM_LENGTH = 32_768

/** Fields that decide whom the server asks: with the others, nothing leaves the machine. */
const ASKED = ['domain', 'domain_ip']

const utilities = routes.flatMap(({ path, form }) => {
  const fields = Object.keys((form as { properties?: object } | undefined)?.properties ?? {})
  return fields.map((field) => [path, field] as const)
})

test.each(utilities)('%s takes linear time for %s', { timeout: 60_000 }, async (path, field) => {
  const others = utilities.filter(([other, name]) => other === path && name !== field && ASKED.includes(name)).map(([, name]) => name)
  const optionsOf = (text: string): InjectOptions => ({
    method: 'POST',
    url: path,
    headers: { authorization: `Bearer ${w.keys.secret}`, 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ [field]: text, ...Object.fromEntries(others.map((name) => [name, 'localhost'])) }).toString(),
  })
  expect(await slow(`${path} with ${field}`, FORM_LENGTH, optionsOf)).toEqual([])
})
