import { describe, expect, test } from 'vitest'
import { importsOf } from './modules.ts'
import { filesUnder, type Source, sourcesOf } from './sources.ts'

/** A module, or a room of infra: the files of its root are in no layer. */
const ROOT = /^(server\/src\/(?:modules|infra)\/[\w-]+)\//

const sources = [...sourcesOf('server/src/modules'), ...sourcesOf('server/src/infra')]

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

type Layering = { root: string; from: string; to: string }

/** The imports from one folder of a module or room into another one. */
const layerings = (files: Source[]): Layering[] =>
  files.flatMap((source) => {
    const root = ROOT.exec(source.path)?.[1] as string
    const from = folderOf(source.path)
    return importsOf(source)
      .filter((path) => path.startsWith(`${root}/`))
      .map((path) => ({ root, from, to: folderOf(path) }))
      .filter(({ to }) => from !== root && to !== root && from !== to)
  })

/** The imports from one room of infra into another one. */
const betweenRooms = (files: Source[]): Layering[] =>
  files.flatMap((source) => {
    const from = /^server\/src\/infra\/[\w-]+/.exec(source.path)?.[0]
    if (from === undefined) return []
    return importsOf(source)
      .flatMap((path) => /^server\/src\/infra\/[\w-]+/.exec(path)?.[0] ?? [])
      .filter((to) => to !== from)
      .map((to) => ({ root: 'server/src/infra', from, to }))
  })

/** The folders that import each other, directly or by way of others. */
function entangled(imports: Layering[]): string[] {
  const next = Map.groupBy(imports, ({ from }) => from)
  const reached = (from: string, seen = new Set<string>()): Set<string> => {
    for (const { to } of next.get(from) ?? []) if (!seen.has(to)) reached(to, seen.add(to))
    return seen
  }
  return [...next.keys()].filter((folder) => reached(folder).has(folder)).sort()
}

/** The folders that hold one file besides tests. */
function lonely(paths: string[]): string[] {
  const folders = Map.groupBy(
    paths.filter((path) => !path.endsWith('.test.ts')),
    folderOf,
  )
  return [...folders].filter(([, files]) => files.length === 1).map(([folder]) => folder)
}

describe('folders', () => {
  test('of one module do not import each other', () => {
    expect(entangled(layerings(sources))).toEqual([])
  })

  test('of infra do not import each other', () => {
    expect(entangled(betweenRooms(sources))).toEqual([])
  })

  test('hold more than one file', () => {
    expect(lonely(filesUnder('server/src'))).toEqual([])
  })
})

describe('the search finds', () => {
  const file = (path: string, text: string): Source => ({ path: `server/src/${path}`, text })

  test('two folders that import each other', () => {
    const files = [file('modules/m/a/x.ts', "import '../b/y.ts'"), file('modules/m/b/y.ts', "import type { X } from '../a/z.ts'")]
    expect(entangled(layerings(files))).toEqual(['server/src/modules/m/a', 'server/src/modules/m/b'])
  })

  test('a ring of folders, one of them inside another', () => {
    const files = [
      file('modules/m/a/x.ts', "import './in/x.ts'"),
      file('modules/m/a/in/x.ts', "import '../../b/x.ts'"),
      file('modules/m/b/x.ts', "import '../a/y.ts'"),
    ]
    expect(entangled(layerings(files))).toHaveLength(3)
  })

  test('two rooms of infra that import each other', () => {
    const files = [file('infra/a/x.ts', "import '../b/y.ts'"), file('infra/b/y.ts', "import '../a/z.ts'")]
    expect(entangled(betweenRooms(files))).toHaveLength(2)
  })

  test('nothing in the root of a module and its folders', () => {
    const files = [file('modules/m/x.ts', "import './a/y.ts'"), file('modules/m/a/y.ts', "import '../z.ts'")]
    expect(entangled(layerings(files))).toEqual([])
  })

  test('a folder with one file and its test', () => {
    expect(lonely(['m/a/x.ts', 'm/a/x.test.ts', 'm/b/x.ts', 'm/b/y.ts'])).toEqual(['m/a'])
  })
})
