import { describe, expect, test } from 'vitest'
import { enterWith, JOURNEY, openRound, runOf, step, USER } from '../../../../test/journey-round.ts'
import type { JourneyId, UserId } from '../../../lib/ids.ts'
import { activeOf, deltaOf, instantOf } from './run.ts'

describe('an item is applied', () => {
  test.each([
    ['at its own instant', '08:59:59.999', '08:59:59.999'],
    ['at its own instant while it is at most 15 minutes late', '08:45:00.000', '08:45:00.000'],
    ['now if it is later than that', '08:44:59.999', '09:00:00.000'],
    ['at its own instant if that is ahead', '09:00:01.000', '09:00:01.000'],
  ])('%s', (_, own, expected) => {
    const at = (time: string) => new Date(`2026-11-23T${time}Z`)
    expect(instantOf(at(own), at('09:00:00.000'))).toEqual(at(expected))
  })
})

test('the active entrances of a user are those that have not ended', () => {
  const wait = () => enterWith(openRound(), step('wait', 'delay', { format: 'duration', minutes: 5 }))
  const [active, ended] = [wait(), enterWith(openRound(), step('out', 'exit', {}))]
  const run = runOf([], active, ended)
  expect([activeOf(run, USER), activeOf(run, (USER + 1) as UserId)]).toEqual([[active], []])
})

test('what a wave changes is kept for each user and journey, and is nothing at first', () => {
  const run = runOf([])
  const nothing = { entered: 0, completed: 0, exited: 0, active: 0, goals: {}, goal_until: null, last_outcome: null, arm: null }
  const never = { last_entered_at: null, last_ended_at: null, held_out_at: null }
  const delta = deltaOf(run, USER, JOURNEY)
  expect(delta).toEqual({ user_id: USER, journey_id: JOURNEY, ...nothing, ...never })
  delta.entered++
  expect(deltaOf(run, USER, JOURNEY)).toBe(delta)
  expect(deltaOf(run, USER, (JOURNEY + 1) as JourneyId).entered).toBe(0)
  expect(deltaOf(run, (USER + 1) as UserId, JOURNEY).entered).toBe(0)
  expect([run.rounds, run.decisions]).toEqual([0, 0])
})
