import { expect, test } from 'vitest'
import { reverseName } from './reverse-name.ts'

test.each([
  ['192.0.2.25', '25.2.0.192.in-addr.arpa'],
  ['::ffff:192.0.2.25', '25.2.0.192.in-addr.arpa'],
  ['2001:db8::a1', '1.a.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa'],
])('the names of %s are found at %s', (address, name) => {
  expect(reverseName(address)).toBe(name)
})
