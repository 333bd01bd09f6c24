import { expect, test } from 'vitest'
import { devicesFor, serviceOf } from './devices.ts'
import type { ProviderName } from './registry.ts'

const HEX = '0a1b2c3d'.repeat(8)
const FIREBASE = `cX1:APA91b${'x'.repeat(130)}`
const BROWSER = '{"endpoint":"https://push.example.com/1"}'

test.each<[string | null, string, ProviderName | null]>([
  ['iOS', 't', 'apns'],
  ['iPadOS 26.1', 't', 'apns'],
  ['macOS', 't', 'apns'],
  ['Mac OS X', 't', 'apns'],
  ['Android', 't', 'fcm'],
  ['android 16', 't', 'fcm'],
  ['web', 't', 'web_push'],
  [null, HEX, 'apns'],
  [null, HEX.toUpperCase(), 'apns'],
  [null, FIREBASE, 'fcm'],
  [null, BROWSER, 'web_push'],
  [null, 't', null],
  ['Windows', 't', null],
  ['Windows', BROWSER, 'web_push'],
  ['macOS', BROWSER, 'web_push'],
  ['iOS', FIREBASE, 'fcm'],
])('a device with %s and the token %.12s is served by %s', (os, token, expected) => {
  expect(serviceOf({ device_id: 'd', os, token })).toBe(expected)
})

test.each<[ProviderName, string[]]>([
  ['apns', ['phone']],
  ['web_push', ['browser']],
  ['fcm', []],
  ['sandbox', ['phone', 'browser', 'unknown']],
])('%s gets the devices %j', (name, expected) => {
  const devices = [
    { device_id: 'phone', os: 'iOS', token: HEX },
    { device_id: 'browser', os: null, token: BROWSER },
    { device_id: 'unknown', os: null, token: 't' },
  ]
  expect(devicesFor(name, devices).map(({ device_id }) => device_id)).toEqual(expected)
})
