import { totalmem } from 'node:os'
import { describe, expect, test } from 'vitest'
import { memoryBytes, memorySettings } from './embedded-postgres-memory.ts'

const GIB = 1024 ** 3

describe('the memory of the embedded PostgreSQL', () => {
  test.each([
    ['half a gibibyte', GIB / 2, '128MB', '4MB'],
    ['a gibibyte', GIB, '256MB', '4MB'],
    ['two', 2 * GIB, '512MB', '8MB'],
    ['four', 4 * GIB, '1024MB', '16MB'],
    ['a large machine', 64 * GIB, '1024MB', '16MB'],
    ['hardly any', 1, '128MB', '4MB'],
  ])('with %s is a quarter for its buffers, within limits', (_, bytes, shared_buffers, work_mem) => {
    expect(memorySettings(bytes)).toEqual({ shared_buffers, work_mem })
  })

  test('is never more than that of the machine', () => {
    expect(memoryBytes()).toBeGreaterThan(0)
    expect(memoryBytes()).toBeLessThanOrEqual(totalmem())
  })
})
