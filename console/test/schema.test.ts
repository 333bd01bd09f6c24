/** How attributes are named in the register, and who can read them. */
import { expect, test } from 'vitest'
import { pathOf } from '../src/parts/attribute-paths.ts'
import { everyDay } from '../src/parts/days.ts'
import { dataKeyOf, type Entry, openEventOf, readersOf, withPersonal, withReaders } from '../src/screens/schema/view.ts'

test.each([
  ['data.plan', 'plan'],
  ['data.a\\.b', 'a.b'],
  ['data.a\\\\b', 'a\\b'],
  ['email', null],
])('the register names %s as %s', (attribute, key) => {
  expect(dataKeyOf(attribute)).toBe(key)
  if (key !== null) expect(pathOf([key])).toBe(attribute)
})

test.each([
  [undefined, 'everyone'],
  [{ min_role: 'editor', hidden: false, personal_data: false }, 'editor'],
  [{ min_role: 'editor', hidden: true, personal_data: false }, 'hidden'],
  [{ min_role: null, hidden: false, personal_data: true }, 'editor'],
  [{ min_role: 'support', hidden: false, personal_data: true }, 'everyone'],
  [{ min_role: 'admin', hidden: false, personal_data: true }, 'admin'],
  [{ min_role: null, hidden: false, personal_data: false, end_user: false }, 'notUsers'],
  [{ min_role: 'support', hidden: false, personal_data: true, end_user: false }, 'notUsers'],
  [{ min_role: null, hidden: false, personal_data: true, end_user: true }, 'editorAndUsers'],
  [{ min_role: 'admin', hidden: false, personal_data: false, end_user: true }, 'adminAndUsers'],
  [{ min_role: 'admin', hidden: true, personal_data: false, end_user: true }, 'hidden'],
])('%o is read by: %s', (entry, readers) => expect(readersOf(entry)).toBe(readers))

const registered = (min_role: string | null, hidden: boolean, end_user: boolean) =>
  ({ key: 'plan', min_role, hidden, end_user, label: 'Plan', personal_data: false }) as Entry

test.each([
  [undefined, 'everyone', true],
  [undefined, 'admin', false],
  [undefined, 'hidden', false],
  [registered(null, false, true), 'admin', false],
  [registered('admin', false, false), 'everyone', true],
  [registered('admin', false, false), 'editor', false],
  [registered('admin', false, true), 'editor', false],
  [registered('admin', false, true), 'adminAndUsers', true],
  [{ ...registered(null, false, true), personal_data: true }, 'editor', false],
  [registered('admin', false, true), 'hidden', false],
  [registered(null, true, false), 'everyone', true],
  [registered(null, false, false), 'admin', false],
  [registered('admin', false, true), 'notUsers', false],
  [{ ...registered(null, false, true), personal_data: true }, 'admin', false],
  [{ ...registered('support', false, true), personal_data: true }, 'editor', false],
])('users are among everyone, and otherwise read their own only where the choice says so: %o, then %s', (entry, readers, expected) =>
  expect(withReaders(entry, readers).end_user).toBe(expected),
)

test.each([
  [undefined, true, false],
  [undefined, false, true],
  [registered(null, false, true), true, false],
  [registered('support', false, true), true, true],
  [registered('admin', false, true), true, true],
  [{ ...registered(null, false, true), personal_data: true }, true, true],
])('to mark personal data closes it to users where it does to lower roles: %o, then %s', (entry, isPersonal, expected) =>
  expect(withPersonal(entry, isPersonal).end_user).toBe(expected),
)

test.each([
  [
    { event: 'order', days: '90' },
    { event: 'order', days: 90 },
  ],
  [{ event: 12, days: 8 }, { event: '12' }],
  [{ event: '', days: 7 }, {}],
  [{ days: 7 }, {}],
])('the address %o opens %o', (address, expected) => expect(openEventOf(address)).toEqual(expected))

test('that users read their own too is beside the role', () =>
  expect(withReaders(registered('admin', false, true), 'adminAndUsers').min_role).toBe('admin'))

test('what is closed to users stays open to every role', () => {
  expect(withReaders({ ...registered('admin', false, false), personal_data: true }, 'notUsers').min_role).toBe('support')
  expect(withReaders(registered('admin', false, false), 'notUsers').min_role).toBe(null)
})

test('the days of an event are all days, those without one included', () => {
  const counted = [
    { day: '2027-01-01', count: 4 },
    { day: '2026-12-30', count: 2 },
  ]
  expect(everyDay('2026-12-29', '2027-01-01', counted)).toEqual([
    { day: '2026-12-29', value: 0 },
    { day: '2026-12-30', value: 2 },
    { day: '2026-12-31', value: 0 },
    { day: '2027-01-01', value: 4 },
  ])
  expect(everyDay('2026-12-29', '2026-12-29', [])).toHaveLength(1)
})
