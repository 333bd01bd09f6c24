import { describe, expect, test } from 'vitest'
import { type BoundaryRule, boundaries, importsOf } from './modules.ts'
import { filesUnder, read, type Source } from './sources.ts'

const rules = boundaries.filter(({ name }) => name.startsWith('node-'))

const sources = filesUnder('server/src')
  .filter((path) => /\.(ts|mjs)$/.test(path) && !path.endsWith('.test.ts'))
  .map(read)

const placesOf = ({ from }: BoundaryRule): string[] => [from.pathNot ?? []].flat()

const importsFor = (source: Source, { to }: BoundaryRule): string[] =>
  importsOf(source).filter((name) => new RegExp(to.path ?? '').test(name))

/** The files that import what a rule keeps to its places, from elsewhere. */
const offenders = (files: Source[]): string[] =>
  rules.flatMap((rule) =>
    files
      .filter(({ path }) => !placesOf(rule).some((place) => new RegExp(place).test(path)))
      .flatMap((source) => importsFor(source, rule).map((name) => `${source.path}: ${name}`)),
  )

describe('what of Node reaches outside of the process', () => {
  test('is used in its places only', () => {
    expect(offenders(sources)).toEqual([])
  })

  test('has no place that does not use it', () => {
    const unused = rules.flatMap((rule) =>
      placesOf(rule)
        .filter((place) => !place.includes('test'))
        .filter((place) => !sources.some((source) => new RegExp(place).test(source.path) && importsFor(source, rule).length > 0))
        .map((place) => `${rule.name}: ${place}`),
    )
    expect(unused).toEqual([])
  })

  test.each(['node:dns', 'node:dns/promises', 'node:net', 'node:tls', 'node:http', 'node:https', 'node:http2', 'node:fs/promises', 'fs'])(
    'is found when a module imports %s',
    (name) => {
      const path = 'server/src/modules/users/planted.ts'
      expect(offenders([{ path, text: `import type { Thing } from '${name}'` }])).toEqual([`${path}: ${name}`])
    },
  )
})
