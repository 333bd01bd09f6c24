import { expect, test } from 'vitest'
import { ADDRESSED, addressOf, CHANNELS, type Channel, channels, hasAddresses } from './channels.ts'

const kim = { email: 'kim@example.com', phone: '+61412345678' }

test.each<[Channel, string | null]>([
  ['email', 'kim@example.com'],
  ['text', '+61412345678'],
  ['push', null],
  ['webhook', null],
  ['in_app', null],
])('the address of a user on %s is %s', (channel, address) => {
  expect(addressOf(channel, kim)).toBe(address)
  expect(addressOf(channel, { email: null, phone: null })).toBeNull()
  expect(hasAddresses(channel)).toBe(address !== null)
  expect(ADDRESSED.some((one) => one === channel)).toBe(address !== null)
})

test.each(CHANNELS)('the label and headings of %s have text, without space around it', (channel) => {
  const { label, heading } = channels[channel]
  for (const text of [label, ...Object.values(heading ?? {})]) expect([text, text !== '']).toEqual([text.trim(), true])
})
