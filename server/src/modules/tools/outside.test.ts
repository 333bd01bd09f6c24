import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../infra/runtime/config.ts'
import { outsideOf } from './outside.ts'

const PRODUCTION = {
  NODE_ENV: 'production',
  SECRETS_KEY: `a:${Buffer.alloc(32).toString('base64')}`,
  SESSION_JWT_KEYS: `a:${'x'.repeat(32)}`,
}

function world(env: Record<string, string> = {}) {
  const time = { ms: 1000 }
  const clock = { now: () => new Date(time.ms), sleep: async () => undefined, skewMs: 0 }
  return { time, outside: outsideOf({ clock, config: readConfig(env) }) }
}

describe('the dependencies of a request', () => {
  test('count milliseconds since the start, never below zero', () => {
    const { time, outside } = world()
    time.ms = 1007
    expect(outside.elapsed()).toBe(7)
    time.ms = 0
    expect(outside.elapsed()).toBe(0)
  })

  test('connect only to addresses that the configuration allows', async () => {
    await using server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await world().outside.tcpCheck('127.0.0.1', port)).toBe('success')
    expect(await world(PRODUCTION).outside.tcpCheck('127.0.0.1', port)).toBe('blocked')
    expect(await world({ ...PRODUCTION, EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }).outside.tcpCheck('127.0.0.1', port)).toBe('success')
  })

  test('draw different seeds of 32 bits', () => {
    const { outside } = world()
    const seeds = Array.from({ length: 50 }, () => outside.randomSeed())
    expect(seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32)).toBe(true)
    expect(new Set(seeds).size).toBeGreaterThan(40)
  })
})
