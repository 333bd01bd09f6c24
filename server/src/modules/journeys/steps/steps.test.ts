import { describe, expect, test } from 'vitest'
import { caseContext } from '../../../../test/journey-context.ts'
import * as registry from './index.ts'
import type { Case, StepKind, Visit } from './step.ts'

const kinds = registry as Record<string, StepKind>

/** Their default path is only for children of open paths. */
const NEVER_DEFAULT = ['webhook']

test('there are 14 kinds', () => expect(Object.keys(kinds)).toHaveLength(14))

describe.each(Object.entries(kinds))('%s', (type, kind) => {
  test.each(kind.cases.map((one): [string, Case<unknown>] => [one.title, one]))('%s', (_, one) => {
    expect(kind.decide(one.settings, caseContext(one))).toEqual(one.decides)
  })

  test('has a case for every path', () => {
    const wanted = new Set<string>()
    const reached = new Set<string>()
    for (const { settings, decides } of kind.cases) {
      const paths = kind.paths(settings).map(({ path }) => path)
      for (const path of paths) wanted.add(path)
      if (decides.is !== 'go') continue
      expect(paths).toContain(decides.path)
      reached.add(decides.path)
    }
    if (NEVER_DEFAULT.includes(type)) wanted.delete('default')
    expect([...wanted].sort()).toEqual([...reached].sort())
  })

  test('has settings in its cases that can be stored and published', () => {
    for (const { settings } of kind.cases) {
      expect(kind.faults?.(settings, 'stored') ?? []).toEqual([])
      expect(kind.faults?.(settings, 'published') ?? []).toEqual([])
    }
    expect(kind.faults?.(kind.example, 'published') ?? []).toEqual([])
  })

  test('waits for a later instant, and for what it depends on', () => {
    for (const { settings, given = {}, decides } of kind.cases) {
      if (decides.is !== 'wait') continue
      expect(decides.until.getTime()).toBeGreaterThan((given.now ?? caseContext({}).now).getTime())
      expect(decides.on).toEqual(kind.dependencies?.(settings) ?? [])
    }
  })

  test('tells each visit in a sentence', () => {
    const base: Visit = {
      step: 'here',
      visit: 2,
      arrived_at: '2026-11-23T09:00:00.000Z',
      left_at: null,
      path: null,
      reason: null,
      seen: {},
    }
    for (const { settings, decides } of kind.cases) {
      const left = { ...base, left_at: '2026-11-23T10:00:00.000Z' }
      const visit =
        decides.is === 'go'
          ? { ...left, ...decides, seen: decides.seen ?? {} }
          : decides.is === 'end'
            ? { ...left, reason: decides.reason }
            : { ...base, ...(decides.is === 'wait' && { seen: decides.seen ?? {} }) }
      expect(kind.tell(settings, visit)).toMatch(/^[A-Zh][^{}]*\.$/)
      expect(kind.tell(settings, visit)).not.toMatch(/undefined|null|NaN/)
    }
  })

  test('has other names that people look for', () => {
    expect(kind.also.length).toBeGreaterThan(0)
    expect(new Set(kind.also).size).toBe(kind.also.length)
  })
})
