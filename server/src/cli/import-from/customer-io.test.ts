import { expect, test } from 'vitest'
import { customerIo } from './customer-io.ts'

/** Cells of a CSV file are text; JSON has other values too. */
test.each([
  ...['', ' ', 'false', 'FALSE', '0', 'no', 'No', false, 0, null].map((cell) => [cell, true] as const),
  ...['true', 'TRUE', '1', 'yes', 't', 'y', 'unsubscribed', '2024-01-01', true, 1, {}].map((cell) => [cell, false] as const),
  [undefined, undefined] as const,
])('who has %j in `unsubscribed` is subscribed: %j', (unsubscribed, expected) => {
  expect(customerIo.user({ email: 'ana@example.com', unsubscribed }, '1').isSubscribed).toBe(expected)
})
