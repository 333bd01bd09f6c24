import { expect, test } from 'vitest'
import { world } from '../../../../test/world.ts'
import { noteParked } from './parked-alarm.ts'

test('many users who are parked within ten minutes raise an alarm, once', async () => {
  const lines: string[] = []
  await using w = await world({ log: { write: (line) => lines.push(line) } })
  const alarms = () => lines.filter((line) => line.includes('many users of journeys were parked')).length
  const park = (times: number) => {
    for (let time = 0; time < times; time++) noteParked(w.ctx, w.db)
  }
  park(100)
  expect(alarms()).toBe(0)
  w.advance('11 minutes')
  park(100)
  expect(alarms()).toBe(0)
  park(50)
  expect(alarms()).toBe(1)
  w.advance('11 minutes')
  park(101)
  expect(alarms()).toBe(2)
})
