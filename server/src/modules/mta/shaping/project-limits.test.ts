import { expect, test } from 'vitest'
import { matches } from '../../../lib/validate.ts'
import { SomeLimits } from './limits.ts'
import { createProjectLimiter } from './project-limits.ts'

const NOW = Date.parse('2026-11-20T02:00:00.000Z')

/** A limiter, and what it answers to project 1 at a site: `yes`, or in how many milliseconds to come back. */
function limiter(processes = 1) {
  const at = { ms: 0 }
  const limits = createProjectLimiter({ now: () => NOW + at.ms, processes: () => processes })
  const ask = (own: Parameters<typeof limits.enter>[2], project = 1, site = 'google') => {
    const place = limits.enter(project, site, own)
    return place.is === 'admitted' ? 'yes' : place.until.getTime() - NOW
  }
  return { at, limits, ask }
}

test.each([
  [0.5, true],
  [0, false],
])('a limit may be %s a minute: %s', (connections_per_minute, isAllowed) => {
  expect(matches(SomeLimits)({ connections_per_minute }) === null).toBe(isAllowed)
})

test('emails at the same time are limited until one is finished', () => {
  const { limits, ask } = limiter()
  const own = { mails_at_once: 2 }
  expect([ask(own), ask(own), ask(own), ask(own)]).toEqual(['yes', 'yes', 1000, 1500])
  limits.leave(1, 'google')
  expect([ask(own), ask(own)]).toEqual(['yes', 2000])
})

test('emails by the second are limited, and those that wait come back one after the other', () => {
  const { at, limits, ask } = limiter()
  const own = { mails_per_second: 0.5 }
  expect([ask(own), ask(own), ask(own), ask(own)]).toEqual(['yes', 2000, 4000, 6000])
  limits.leave(1, 'google')
  at.ms = 1999
  expect(ask(own)).toBe(8000)
  at.ms = 2000
  expect(ask(own)).toBe('yes')
})

test('a rate outlasts the email that used it', () => {
  const { limits, ask } = limiter()
  const own = { mails_per_second: 0.5 }
  expect(ask(own)).toBe('yes')
  limits.leave(1, 'google')
  expect(ask(own)).toBe(2000)
})

test('other projects, other sites and other processes have their own', () => {
  const { ask } = limiter()
  const own = { mails_at_once: 1 }
  expect([ask(own), ask(own, 2), ask(own, 1, 'yahoo')]).toEqual(['yes', 'yes', 'yes'])
  const shared = limiter(2)
  expect([shared.ask({ mails_per_second: 2 }), shared.ask({ mails_per_second: 2 })]).toEqual(['yes', 1000])
  const atOnce = limiter(2)
  expect([1, 2, 3].map(() => atOnce.ask({ mails_at_once: 4 }))).toEqual(['yes', 'yes', 1000])
})

test('nothing waits longer than ten minutes', () => {
  const { ask } = limiter()
  const waits = Array.from({ length: 1000 }, () => ask({ mails_per_second: 1 })).filter((wait) => wait !== 'yes')
  expect(Math.max(...waits.map(Number))).toBe(600_000)
})
