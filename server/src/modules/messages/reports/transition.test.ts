import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Report } from '../../channels/index.ts'
import type { MessageState } from '../schema.ts'
import { afterReport, mayBeTaken } from './transition.ts'

test.each<[MessageState, Report['what'], MessageState | null]>([
  ['sent', 'delivered', 'delivered'],
  ['sent', 'failed', 'failed'],
  ['sent', 'bounced', 'bounced'],
  ['delivered', 'bounced', 'bounced'],
  ['delivered', 'complained', 'complained'],
  ['unknown', 'delivered', 'delivered'],
  ['unknown', 'bounced', 'bounced'],
  ['claimed', 'delivered', 'delivered'],
  ['claimed', 'failed', 'failed'],
  ['unknown', 'failed', 'failed'],
  ['failed', 'delivered', 'delivered'],
  ['bounced', 'delivered', null],
  ['complained', 'bounced', null],
  ['delivered', 'delivered', null],
  ['sent', 'delayed', null],
  ['sent', 'unsubscribed', null],
  ['queued', 'delivered', null],
  ['deferred', 'bounced', null],
  ['skipped', 'delivered', null],
  ['aborted', 'delivered', null],
])('a message that is %s and reported as %s becomes %s', (state, what, expected) => {
  expect(afterReport(state, what)?.state ?? null).toBe(expected)
})

test.each<[MessageState, MessageState | null]>([
  ['queued', 'bounced'],
  ['deferred', 'bounced'],
  ['claimed', 'bounced'],
  ['skipped', null],
])('a message that is %s after an attempt without a reply, and reported as bounced, becomes %s', (state, expected) => {
  expect(afterReport(state, 'bounced', true)?.state ?? null).toBe(expected)
})

test.each<[MessageState, boolean]>([
  ['queued', false],
  ['claimed', true],
  ['deferred', false],
  ['sent', true],
  ['delivered', true],
  ['bounced', false],
  ['complained', true],
  ['failed', false],
  ['skipped', false],
  ['aborted', false],
  ['unknown', true],
])('a message without an id at its provider that is %s may be there: %s, and always after an attempt without a reply', (state, isTaken) => {
  expect(mayBeTaken({ state, uncertain_at: null })).toBe(isTaken)
  expect(mayBeTaken({ state, uncertain_at: new Date(0) })).toBe(true)
})

test('the final state does not depend on the order or the repetition of reports', () => {
  const whats = fc.constantFrom<Report['what']>('delivered', 'failed', 'bounced', 'complained', 'delayed', 'unsubscribed')
  const after = (reports: Report['what'][]) =>
    reports.reduce<MessageState>((state, what) => afterReport(state, what)?.state ?? state, 'sent')
  fc.assert(
    fc.property(
      fc
        .array(whats, { maxLength: 8 })
        .chain((reports) => fc.tuple(fc.constant(reports), fc.shuffledSubarray(reports, { minLength: reports.length }))),
      ([reports, shuffled]) => after(reports) === after([...shuffled, ...reports]),
    ),
  )
})
