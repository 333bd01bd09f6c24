import { describe, expect, test } from 'vitest'
import { boundaries, importsOf, moduleOf, owners, tablesNamedIn } from './modules.ts'
import { type Source, sourcesOf } from './sources.ts'

type Arrow = `${string} → ${string}`

const MODULES = 'server/src/modules'
const sources = sourcesOf(MODULES)
const modules = [...new Set(sources.map(({ path }) => moduleOf(path) as string))].sort()

/** The arrows that a file uses: a module it imports from, or the owner of a table that its SQL names. */
function arrowsOf(source: Source): Arrow[] {
  const own = moduleOf(source.path)
  const imported = importsOf(source).map(moduleOf)
  const read = tablesNamedIn(source).map(({ table }) => owners.get(table))
  return [...imported, ...read].flatMap((other): Arrow[] => (other === undefined || other === own ? [] : [`${own} → ${other}`]))
}

/** The arrows that these files use. */
const usedIn = (files: Source[]): ReadonlySet<Arrow> => new Set(files.flatMap(arrowsOf))

const used = usedIn(sources)

/** The arrows that the boundaries allow. Each rule is asked, so that what counts is what the check enforces. */
const declared: ReadonlySet<Arrow> = new Set(
  boundaries
    .filter(({ name }) => name.startsWith('arrows-of-'))
    .flatMap(({ name, to }) => {
      const from = name.slice('arrows-of-'.length)
      const allowed = new RegExp(to.pathNot as string)
      return modules
        .filter((other) => other !== from && allowed.test(`${MODULES}/${other}/index.ts`))
        .map((other): Arrow => `${from} → ${other}`)
    }),
)

/** The arrows that are in the first set only. */
const missingIn = (arrows: ReadonlySet<Arrow>, others: ReadonlySet<Arrow>): Arrow[] => [...arrows.difference(others)].sort()

/** The modules that can be reached from themselves. */
function inRings(arrows: ReadonlySet<Arrow>): string[] {
  const next = Map.groupBy(arrows, (arrow) => arrow.split(' → ')[0] as string)
  const reached = (from: string, seen = new Set<string>()): Set<string> => {
    for (const arrow of next.get(from) ?? []) {
      const to = arrow.split(' → ')[1] as string
      if (!seen.has(to)) reached(to, seen.add(to))
    }
    return seen
  }
  return [...next.keys()].filter((module) => reached(module).has(module)).sort()
}

describe('arrows between modules', () => {
  test('are declared for every module', () => {
    const rules = boundaries.map(({ name }) => name)
    expect(modules.filter((module) => !rules.includes(`arrows-of-${module}`))).toEqual([])
  })

  test('are declared when an import or a table uses them', () => {
    expect(missingIn(used, declared)).toEqual([])
  })

  test('are in use when they are declared', () => {
    expect(missingIn(declared, used)).toEqual([])
  })

  test('lead around no ring', () => {
    expect(inRings(declared)).toEqual([])
  })
})

describe('the search for arrows finds', () => {
  const file = (text: string): Source => ({ path: `${MODULES}/projects/planted/thing.ts`, text })

  test.each([
    ['an import', "import { userRoutes } from '../../users/index.ts'", 'projects → users'],
    ['an import of a type', "import type { UserRow } from '../../users/index.ts'", 'projects → users'],
    ['an import that is exported again', "export { userRoutes } from '../../users/index.ts'", 'projects → users'],
    ['an import at run time', "const users = await import('../../users/index.ts')", 'projects → users'],
    ['a type behind `import`', "type User = import('../../users/index.ts').UserRow", 'projects → users'],
    ['a table that is read', 'const read = sql`select 1 from users u where true`', 'projects → users'],
    ['a table that is written', 'const write = sql`insert into webhook_events (id) values (1)`', 'projects → webhook-events'],
    ['a table that is joined', 'const read = sql`select 1 from projects p join lists l on true`', 'projects → lists'],
    ['the second table of a list', 'const read = sql`select 1 from projects p, messages m`', 'projects → messages'],
    ['a table in a part of a statement', 'const part = sql`exists (select 1 from campaigns)`', 'projects → campaigns'],
    ['the bare name of a table', 'const table = sql`devices`', 'projects → users'],
  ])('%s', (_, text, arrow) => {
    expect([...usedIn([file(text)])]).toEqual([arrow])
  })

  test.each([
    ['a file of the same module', "import { findProject } from '../service.ts'"],
    ['a table of its own', 'const read = sql`select 1 from projects`'],
    ['a table of infra', 'const read = sql`select 1 from queue_entries`'],
    ['a comment', "// import { userRoutes } from '../../users/index.ts'"],
    ['a column that is called like a table', 'const read = sql`select messages, p.users from projects p`'],
  ])('nothing in %s', (_, text) => {
    expect([...usedIn([file(text)])]).toEqual([])
  })

  test('one that is used and not declared', () => {
    expect(missingIn(usedIn([file("import '../../users/index.ts'")]), declared)).toEqual(['projects → users'])
  })

  test('one that is declared and not used', () => {
    expect(missingIn(new Set<Arrow>(['keys → projects', 'tools → users']), used)).toEqual(['tools → users'])
  })

  test('a ring', () => {
    expect(inRings(new Set<Arrow>(['a → b', 'b → c', 'c → b']))).toEqual(['b', 'c'])
  })
})
