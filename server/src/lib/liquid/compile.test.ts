import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { arbitraryScope, arbitraryTemplate } from '../../../test/arbitrary-liquid.ts'
import { corpus, filterCases, SCOPE } from '../../../test/liquid-cases.ts'
import { type Output, outcomesOf } from '../../../test/liquid-engines.ts'
import { createEngine } from './engine.ts'

/** More with `LIQUID_RUNS`. */
const RUNS = Number(process.env.LIQUID_RUNS ?? 150)

// The filter `sample` shuffles.
beforeAll(() => void vi.spyOn(Math, 'random').mockReturnValue(0.3))
afterAll(() => void vi.restoreAllMocks())

/** The same text, errors, lines, scope and budget, however outputs are written. */
function expectSame(
  template: string,
  scope: Record<string, unknown>,
  outputs: Output[] = ['text', 'html', 'marked'],
): { isParsed: boolean; isCompiled: boolean } {
  const outcomes = outputs.map((output) => outcomesOf(output, template, scope))
  for (const outcome of outcomes) if (outcome?.compiled) expect(outcome.compiled).toEqual(outcome.expected)
  return { isParsed: outcomes.every(Boolean), isCompiled: outcomes.every((outcome) => outcome?.compiled) }
}

/** What was rendered, without marks. */
function unmarked(output: Output, template: string) {
  const result = outcomesOf(output, template, SCOPE)?.expected.result
  return typeof result === 'string' ? result.replace(/[\uFDD0\uFDD1]/g, '') : result
}

test('marks change nothing that a template reads', () => {
  const templates = Object.entries(corpus).flatMap(([name, templates]) => (name === 'budgets' ? [] : templates))
  for (const template of templates) expect(unmarked('marked', template), template).toEqual(unmarked('text', template))
})

describe.each(Object.entries(corpus))('compiled templates render what liquidjs renders: %s', (name, templates) => {
  test.each(templates)('%s', (template) => {
    expect(expectSame(template, SCOPE, name === 'budgets' ? ['html'] : undefined)).toEqual({ isParsed: true, isCompiled: true })
  })
})

describe('every filter renders the same for every value', () => {
  const names = Object.keys(createEngine('html').filters)

  test('and has cases', () => expect(Object.keys(filterCases).sort()).toEqual([...names].sort()))

  test.each(Object.entries(filterCases))('%s', (name, argumentLists) => {
    for (const value of Object.keys(SCOPE.values))
      for (const given of ['', ...argumentLists]) {
        const template = `a\n{{ values.${value} | ${name}${given} }}\n{% assign x = values.${value} | ${name}${given} %}{{ x | json }}`
        expect(expectSame(template, SCOPE, ['html']), template).toEqual({ isParsed: true, isCompiled: true })
      }
  })
})

test('every tag has cases', () => {
  const text = Object.values(corpus).flat().join('')
  const unused = Object.keys(createEngine('html').tags).filter((name) => !new RegExp(`(?:\\{%-?|\\n) *${name}`).test(text))
  expect(unused).toEqual([])
})

test('random templates and scopes', () => {
  let compiled = 0
  fc.assert(
    fc.property(arbitraryTemplate, arbitraryScope, (template, scope) => {
      const { isParsed, isCompiled } = expectSame(template, scope)
      expect(isCompiled).toBe(isParsed)
      if (isCompiled) compiled++
    }),
    { numRuns: RUNS },
  )
  expect(compiled / RUNS).toBeGreaterThan(0.5)
})

describe('is left to liquidjs', () => {
  test.each([
    ['what is nested 200 deep', `${'{% if true %}'.repeat(200)}x${'{% endif %}'.repeat(200)}`],
    ['a path in a path, 200 deep', `{{ ${'a['.repeat(200)}a${']'.repeat(200)} }}`],
  ])('%s', (_, template) => {
    expect(outcomesOf('html', template, {})).toMatchObject({ compiled: null })
  })
})
