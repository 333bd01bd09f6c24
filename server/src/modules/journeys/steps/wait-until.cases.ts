/** The table of cases of `wait_until`. */
import type { ListId } from '../../../lib/ids.ts'
import { factName } from './facts.ts'
import type { Case, Decision, Input } from './step.ts'

/** Not that of the kind, which imports this file. */
type WaitSettings = { conditions: Record<string, unknown>[]; timeout: string }

const list = 12 as ListId
const at = (text: string) => new Date(text)
const purchase = (data: Record<string, unknown> = {}, createdAt = '2026-11-23T09:00:00Z'): Input => ({
  is: 'event',
  name: 'purchase',
  data,
  createdAt: at(createdAt),
})
const change = (entered: boolean): Input => ({ is: 'membership', listId: list, entered })

const bought: WaitSettings = { conditions: [{ path: 'bought', event_name: 'purchase' }], timeout: '3d' }
const big: WaitSettings = {
  conditions: [{ path: 'bought', event_name: 'purchase', where: [{ attribute: 'data.total', greater_than: 10 }] }],
  timeout: '3d',
}
const fresh: WaitSettings = { conditions: [{ path: 'bought', event_name: 'purchase', since: 'arrival' }], timeout: '3d' }
const clicked: WaitSettings = {
  conditions: [{ path: 'clicked', event_name: 'email_clicked', where: [{ attribute: 'data.step', is: 'send1' }] }],
  timeout: '1d',
}
const listed = (is: 'in' | 'not_in' | 'entered' | 'left'): WaitSettings => ({
  conditions: [{ path: 'list', list_id: list, is }],
  timeout: '3d',
})
const pro: WaitSettings = { conditions: [{ path: 'pro', rule: { attribute: 'data.plan', is: 'pro' } }], timeout: '3d' }
const both: WaitSettings = {
  conditions: [
    { path: 'pro', rule: { attribute: 'data.plan', is: 'pro' } },
    { path: 'bought', event_name: 'purchase' },
  ],
  timeout: '3d',
}

const END = at('2026-11-26T09:00:00Z')
const inside = { enteredAt: at('2026-11-23T08:00:00Z') }
const keyed = { key: 'c-1', keyPath: 'data.cart' }
const no = { 'conditions[0].rule': { holds: false } }
const waiting = (on: string[]): Decision => ({ is: 'wait', until: END, on })
const go = (path: string, reason: string, seen: Record<string, unknown> = {}): Decision => ({ is: 'go', path, reason, seen })
const timeout: Decision = { is: 'go', path: 'timeout', reason: 'timeout' }
const boughtNow = go('bought', 'event', { event: 'purchase' })

export const WAIT_CASES: Case<WaitSettings>[] = [
  { title: 'waits on arrival', settings: bought, given: inside, decides: waiting(['event:purchase']) },
  { title: 'the event', settings: bought, given: { ...inside, input: purchase() }, decides: boughtNow },
  {
    title: 'another event',
    settings: bought,
    given: { ...inside, input: { ...purchase(), name: 'login' } as Input },
    decides: waiting(['event:purchase']),
  },
  { title: 'the timeout', settings: bought, given: { ...inside, now: END, input: { is: 'timer' } }, decides: timeout },
  {
    title: 'event and timeout at one instant: the event',
    settings: bought,
    given: { ...inside, now: END, input: purchase({}, END.toISOString()) },
    decides: boughtNow,
  },
  {
    title: 'an event that does not pass the tests',
    settings: big,
    given: { ...inside, input: purchase({ total: 3 }) },
    decides: waiting(['event:purchase']),
  },
  { title: 'an event that passes the tests', settings: big, given: { ...inside, input: purchase({ total: 30 }) }, decides: boughtNow },
  {
    title: 'purchase during an earlier delay: passes at once on arrival',
    settings: bought,
    given: { ...inside, entrance: { seen: { [`here:${factName({ event_name: 'purchase' })}`]: '2026-11-23T08:30:00.000Z' } } },
    decides: go('bought', 'event', { event: 'purchase', at: '2026-11-23T08:30:00.000Z' }),
  },
  {
    title: 'another event during an earlier delay, which a version before counted at this position',
    settings: bought,
    given: { ...inside, entrance: { seen: { [`here:${factName({ event_name: 'cancelled' })}`]: '2026-11-23T08:30:00.000Z' } } },
    decides: waiting(['event:purchase']),
  },
  {
    title: 'purchase during an earlier delay, as entrances before had it: by the position of the condition',
    settings: bought,
    given: { ...inside, entrance: { seen: { 'here:0': '2026-11-23T08:30:00.000Z' } } },
    decides: go('bought', 'event', { event: 'purchase', at: '2026-11-23T08:30:00.000Z' }),
  },
  {
    title: 'purchase during an earlier delay does not count since the arrival',
    settings: fresh,
    given: { ...inside, entrance: { seen: { [`here:${factName({ event_name: 'purchase' })}`]: '2026-11-23T08:30:00.000Z' } } },
    decides: waiting(['event:purchase']),
  },
  {
    title: 'an event dated before the arrival does not count since the arrival',
    settings: fresh,
    given: { ...inside, arrivedAt: at('2026-11-23T09:00:00Z'), input: purchase({}, '2026-11-23T08:59:00Z') },
    decides: waiting(['event:purchase']),
  },
  {
    title: 'an event that is received late, dated since the entry',
    settings: bought,
    given: { ...inside, input: purchase({}, '2026-11-23T08:00:00Z') },
    decides: boughtNow,
  },
  {
    title: 'an event dated before the entry',
    settings: bought,
    given: { ...inside, input: purchase({}, '2026-11-23T07:59:59Z') },
    decides: waiting(['event:purchase']),
  },
  {
    title: 'an event dated before the entry event',
    settings: bought,
    given: {
      ...inside,
      event: { name: 'cart', data: {}, created_at: '2026-11-23T08:30:00.000Z' },
      input: purchase({}, '2026-11-23T08:29:00Z'),
    },
    decides: waiting(['event:purchase']),
  },
  {
    title: 'another key: ignored',
    settings: bought,
    given: { ...inside, entrance: keyed, input: purchase({ cart: 'c-2' }) },
    decides: waiting(['event:purchase']),
  },
  { title: 'the same key', settings: bought, given: { ...inside, entrance: keyed, input: purchase({ cart: 'c-1' }) }, decides: boughtNow },
  { title: 'no key', settings: bought, given: { ...inside, entrance: keyed, input: purchase() }, decides: boughtNow },
  {
    title: '`email_clicked` of this entrance, of the named step',
    settings: clicked,
    given: { ...inside, input: { ...purchase({ step: 'send1' }), name: 'email_clicked' } as Input },
    decides: go('clicked', 'event', { event: 'email_clicked' }),
  },
  {
    title: 'in the list on arrival: passes at once',
    settings: listed('in'),
    given: { ...inside, lists: { 12: true } },
    decides: go('list', 'list', { list: 12 }),
  },
  {
    title: 'not in the list on arrival',
    settings: listed('in'),
    given: { ...inside, lists: { 12: false } },
    decides: waiting(['list:12']),
  },
  {
    title: '`not_in` passes at once',
    settings: listed('not_in'),
    given: { ...inside, lists: { 12: false } },
    decides: go('list', 'list', { list: 12 }),
  },
  {
    title: '`entered` does not count a user who is in the list',
    settings: listed('entered'),
    given: { ...inside, lists: { 12: true } },
    decides: waiting(['list:12']),
  },
  {
    title: 'enters the list',
    settings: listed('entered'),
    given: { ...inside, lists: { 12: true }, input: change(true) },
    decides: go('list', 'list', { list: 12 }),
  },
  {
    title: 'leaves the list',
    settings: listed('left'),
    given: { ...inside, lists: { 12: false }, input: change(false) },
    decides: go('list', 'list', { list: 12 }),
  },
  { title: 'list deleted: `in` never', settings: listed('in'), given: inside, decides: waiting(['list:12']) },
  { title: 'list deleted: `entered` never', settings: listed('entered'), given: inside, decides: waiting(['list:12']) },
  { title: 'list deleted: `not_in` true', settings: listed('not_in'), given: inside, decides: go('list', 'list_gone', { list: 12 }) },
  { title: 'list deleted: `left` true', settings: listed('left'), given: inside, decides: go('list', 'list_gone', { list: 12 }) },
  {
    title: 'the rule holds on arrival: passes at once',
    settings: pro,
    given: { ...inside, rules: { 'conditions[0].rule': { holds: true, seen: { 'data.plan': 'pro' } } } },
    decides: go('pro', 'rule', { 'data.plan': 'pro' }),
  },
  {
    title: 'the rule can turn by time: the timer is at that instant',
    settings: pro,
    given: { ...inside, rules: { 'conditions[0].rule': { holds: false, nextChangeAt: at('2026-11-24T00:00:00Z') } } },
    decides: { is: 'wait', until: at('2026-11-24T00:00:00Z'), on: ['attribute:data.plan'] },
  },
  {
    title: 'that timer is no timeout',
    settings: pro,
    given: { ...inside, arrivedAt: at('2026-11-23T09:00:00Z'), now: at('2026-11-24T00:00:00Z'), input: { is: 'timer' }, rules: no },
    decides: waiting(['attribute:data.plan']),
  },
  {
    title: 'the first condition that is met counts',
    settings: both,
    given: { ...inside, input: purchase(), rules: { 'conditions[0].rule': { holds: true } } },
    decides: go('pro', 'rule'),
  },
  { title: 'the second condition is met', settings: both, given: { ...inside, input: purchase(), rules: no }, decides: boughtNow },
]
