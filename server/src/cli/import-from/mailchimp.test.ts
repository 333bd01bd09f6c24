import { expect, test } from 'vitest'
import { UsageError } from '../command.ts'
import { importOptions } from './import-from.ts'
import { mailchimp } from './mailchimp.ts'

const TIME = '2023-05-01 10:00:00'

test.each([
  ['opted in', { OPTIN_TIME: TIME, CONFIRM_TIME: TIME }, true],
  ['was added by an import, which has no time of its own', { OPTIN_TIME: '', CONFIRM_TIME: TIME }, true],
  ['never opted in', { OPTIN_TIME: '', CONFIRM_TIME: '' }, undefined],
  ['never opted in, in a file without one of the columns', { OPTIN_TIME: '' }, undefined],
  ['is in a file that tells no times', {}, true],
  ['never opted in and unsubscribed', { OPTIN_TIME: '', CONFIRM_TIME: '', UNSUB_TIME: TIME }, false],
  ['was cleaned', { CLEAN_TIME: TIME }, false],
])('who %s is subscribed, not, or unknown', (_, times, expected) => {
  expect(mailchimp.user({ 'Email Address': 'ana@example.com', ...times }, 'ana').isSubscribed).toBe(expected)
})

test.each(['nonsubscribed_members_export.csv', 'export/Non-Subscribed_members.csv', 'non_subscribed.csv'])(
  'the file %s is not imported for a subscription type',
  (file) => {
    const args = ['mailchimp', 'users', file]
    expect(importOptions(args).file).toBe(file)
    expect(() => importOptions([...args, '--subscription', '4'])).toThrow(UsageError)
  },
)

test('other files are imported for a subscription type', () => {
  const { target } = importOptions(['mailchimp', 'users', 'nonsubscribed/subscribed_members.csv', '--subscription', '4'])
  expect(target.subscriptionId).toBe(4)
  expect(importOptions(['listmonk', 'users', 'nonsubscribed.csv', '--subscription', '4']).target.subscriptionId).toBe(4)
})
