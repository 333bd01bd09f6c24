/** Pieces of a job's work that fail. */
import { expect, test } from 'vitest'
import { world } from '../../../test/world.ts'
import { failedPiecesOf } from './failed-pieces.ts'

const JOB = { name: 'test.pieces' }

test('a piece that takes long to fail is left out for ten times as long, and at most for ten minutes', async () => {
  await using w = await world({ own: true })
  const failed = failedPiecesOf(w.ctx, JOB)
  failed.fail([1], new Error('slow'), performance.now() - 20_000, {})
  failed.fail([2], new Error('quick'), performance.now(), {})
  failed.fail([3], new Error('stuck'), performance.now() - 3_600_000, {})
  expect(failed.leftOut()).toEqual([1, 2, 3])
  w.advance('199 seconds')
  expect(failed.leftOut()).toEqual([1, 3])
  w.advance('10 seconds')
  expect(failed.leftOut()).toEqual([3])
  w.advance('10 minutes')
  expect(failed.leftOut()).toEqual([])
})
