import { expect, test } from 'vitest'
import { DAY_MS, MINUTE_MS } from '../../lib/times.ts'
import { nextLook } from './deletion.ts'

const deleted_at = new Date('2026-03-01T00:00:00Z')

test.each([
  ['at once', 0, 10 * MINUTE_MS],
  ['just before what was in flight has ended', 10 * MINUTE_MS - 1, 10 * MINUTE_MS],
  ['after it', 10 * MINUTE_MS, 10 * MINUTE_MS + DAY_MS],
  ['on the 29th day', 29 * DAY_MS, 30 * DAY_MS],
  ['after the 29th day', 29 * DAY_MS + 1, null],
])('a project without rows %s is looked at again when it is due', (_, after, next) => {
  const at = nextLook({ deleted_at }, new Date(deleted_at.getTime() + after))
  expect(at && at.getTime() - deleted_at.getTime()).toBe(next)
})
