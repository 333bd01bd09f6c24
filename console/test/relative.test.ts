/** How far away a time is, in words. */
import { expect, test } from 'vitest'
import { relative } from '../src/parts/relative.ts'

const [MINUTE, HOUR] = [60_000, 3_600_000]
const NOW = Date.parse('2026-11-30T09:00:00Z')

test.each([
  [59_000, 'now'],
  [-59_000, 'now'],
  [MINUTE, 'in 1 minute'],
  [-5 * MINUTE, '5 minutes ago'],
  [59.7 * MINUTE, 'in 1 hour'],
  [-59.7 * MINUTE, '1 hour ago'],
  [23.4 * HOUR, 'in 23 hours'],
  [23.8 * HOUR, 'in 1 day'],
  // The day after tomorrow, at night; and the night before yesterday.
  [30 * HOUR, 'in 1 day'],
  [-30 * HOUR, '1 day ago'],
  [6 * 24 * HOUR, 'in 6 days'],
])('%i ms from now is “%s”', (ms, expected) => expect(relative('en-AU', new Date(NOW + ms), NOW, 'now')).toBe(expected))
