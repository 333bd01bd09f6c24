/** What is asked before something that is not saved is left. */
import { expect, test } from 'vitest'
import { isElsewhere, questionOf, type Unsaved } from '../src/parts/leaving.ts'

test.each<[Unsaved[], string]>([
  [['kept'], 'autosave.leave'],
  [['kept', 'form'], 'autosave.leaveForm'],
  [['form', 'no-room', 'kept'], 'autosave.leaveUnkept'],
])('of %j the worst is said', (states, question) => {
  expect(questionOf(states)).toBe(question)
})

const rule = { pathname: '/p/1/lists/1', search: { view: 'rule' } }

test.each([
  ['another screen', { pathname: '/p/1/users', search: { view: 'rule' } }, true],
  ['another view', { ...rule, search: {} }, true],
  ['another page of the same view', { ...rule, search: { view: 'rule', cursor: 'x' } }, false],
])('a form is left for %s: %#', (_, next, isLeft) => {
  expect(isElsewhere(rule, next)).toBe(isLeft)
})
