/** Which messages of the sandbox inbox were opened. */
import { expect, test } from 'vitest'
import { isRead, marksOf, withAllRead, withRead } from '../src/screens/sandbox/read-marks.ts'

test('a message is read once it was opened, or all were marked', () => {
  const opened = withRead({ upTo: 4, ids: [] }, 8)
  expect([3, 4, 5, 8, 9].filter((id) => isRead(opened, id))).toEqual([3, 4, 8])
  expect(withRead(opened, 8)).toBe(opened)
  expect(withAllRead(opened, [9, 8, 7])).toEqual({ upTo: 9, ids: [] })
  expect(withAllRead({ upTo: 9, ids: [] }, [3])).toEqual({ upTo: 9, ids: [] })
})

test('marks do not grow without end: the oldest are forgotten', () => {
  let marks = marksOf(null)
  for (let id = 1; id <= 600; id += 1) marks = withRead(marks, id)
  expect(marks.ids).toHaveLength(500)
  expect([isRead(marks, 100), isRead(marks, 101), isRead(marks, 600)]).toEqual([false, true, true])
})

test.each([[null], [''], ['null'], ['{"upTo":"x","ids":[]}'], ['{"ids":[1]}'], ['[1']])('%j are no marks', (stored) =>
  expect(marksOf(stored)).toEqual({ upTo: 0, ids: [] }),
)
