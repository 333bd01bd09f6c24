import { expect, test, vi } from 'vitest'
import { createTestClock } from '../../test/test-clock.ts'
import { HELD_MS, inOrder, type ReceivedEvent } from './in-order.ts'

const event = (timestamp: string, id = 'evt_1'): ReceivedEvent => ({ id, timestamp, body: '{}' })

test('events that arrive in another order are shown in the order in which they happened', async () => {
  const clock = createTestClock()
  const shown: string[] = []
  await using printer = inOrder(({ timestamp, id }) => shown.push(`${timestamp} ${id}`), clock)
  printer.add(event('09:00:02'))
  printer.add(event('09:00:01', 'evt_2'))
  printer.add(event('09:00:01', 'evt_1'))
  expect(shown).toEqual([])
  clock.advance(HELD_MS)
  await vi.waitFor(() => expect(shown).toEqual(['09:00:01 evt_1', '09:00:01 evt_2', '09:00:02 evt_1']))
})

test('an event that arrives while others wait is shown before those that happened after it, and waits itself for those before it', async () => {
  const clock = createTestClock()
  const shown: string[] = []
  await using printer = inOrder(({ timestamp }) => shown.push(timestamp), clock)
  printer.add(event('09:00:02'))
  clock.advance(HELD_MS - 1)
  printer.add(event('09:00:03'))
  printer.add(event('09:00:01'))
  clock.advance(1)
  await vi.waitFor(() => expect(shown).toEqual(['09:00:01', '09:00:02']))
  clock.advance(HELD_MS)
  await vi.waitFor(() => expect(shown).toEqual(['09:00:01', '09:00:02', '09:00:03']))
})

test('what waits at the end is shown', async () => {
  const shown: string[] = []
  {
    await using printer = inOrder(({ timestamp }) => shown.push(timestamp), createTestClock())
    printer.add(event('09:00:02'))
    printer.add(event('09:00:01'))
  }
  expect(shown).toEqual(['09:00:01', '09:00:02'])
})
