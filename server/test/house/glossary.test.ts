import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { filesUnder, read, type Source } from './sources.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MODULES = 'server/src/modules/'

type Exception = { in: string[]; why: string }

/** Names that may contain a banned word, in the files whose paths begin so, and why. */
const NAMES: (Exception & { names: string[] })[] = [
  { names: ['allSettled', 'PromiseSettledResult'], in: [''], why: 'JavaScript' },
  { names: ['captureStackTrace'], in: ['server/src/infra/postgres/'], why: 'JavaScript' },
  { names: ['arrival_date'], in: [''], why: 'a JSON member of abuse reports' },
  { names: ['arrived', 'arrived_at', 'arrivedAt'], in: [''], why: 'a JSON member of the visits of steps, and its column' },
  { names: ['ending'], in: ['server/src/infra/postgres/'], why: 'a member of a pool of pg' },
  { names: ['machine_clicks', 'machine_opens'], in: [''], why: 'a JSON member of links, and the columns of both counts' },
  { names: ['machine', 'people'], in: [`${MODULES}tracking/`], why: 'JSON members of links and opens' },
  {
    names: ['people', 'people_done', 'people_total'],
    in: [`${MODULES}campaigns/preflight/`, 'server/test/flows/blast.test.ts', 'server/test/house/claims.test.ts'],
    why: 'JSON members of preflights',
  },
  { names: ['people_done', 'people_total'], in: ['server/migrations/'], why: 'columns of preflights' },
  { names: ['people'], in: [`${MODULES}users/attribute-profiles/`], why: 'a JSON member of attributes in use' },
  {
    names: ['machine', 'people', 'people_done', 'people_total'],
    in: ['server/src/api-description/'],
    why: 'JSON members in descriptions and examples',
  },
  { names: ['seen'], in: [`${MODULES}rules/explain.ts`, `${MODULES}rules/compile.test.ts`], why: 'a JSON member of explanations' },
  { names: ['person'], in: [`${MODULES}tools/generate/`, 'server/src/cli/seed/'], why: 'a member of a library' },
  { names: ['settled_at'], in: [''], why: 'a JSON member of recipients, and its column' },
]

/** Words that mean something else in these files, and what. */
const MEANINGS: (Exception & { word: string })[] = [
  {
    word: 'occurrence',
    in: [`${MODULES}journeys/schedule`, `${MODULES}journeys/sweeps/`, `${MODULES}journeys/backtests/schedules.ts`],
    why: 'an instant of a recurrence rule, in RFC 5545',
  },
  {
    word: 'segment',
    in: [
      `${MODULES}templates/`,
      `${MODULES}channels/`,
      `${MODULES}campaigns/text-sizes/`,
      `${MODULES}campaigns/tasks.ts`,
      'server/migrations/0076_',
      'server/src/api-description/examples/',
    ],
    why: 'a part of a long text message, and its price',
  },
  {
    word: 'segment',
    in: ['server/src/infra/http/openapi/', 'server/src/lib/liquid/variables.ts', 'server/src/lib/liquid/paths.ts'],
    why: 'a part of a path',
  },
  { word: 'capture', in: ['server/src/lib/liquid/tags.ts'], why: 'a tag of Liquid' },
  { word: 'signals', in: ['server/src/cli/'], why: 'signals of the operating system' },
]

/** Results of benchmarks are records of their day. */
const RECORDS = 'bench/results/'

type Banned = { word: string; in: string[]; pattern: RegExp }
type Row = { term: string; meaning: string; locations: string[]; banned: Banned[] }
type Hit = { word: string; name: string; path: string }

/** The rows of the table that have a term, without its head and those that name an area. */
function rowsOf(markdown: string): Row[] {
  const lines = markdown.split('\n').filter((line) => /^\| (?!Term |--- |\*\*)/.test(line))
  return lines.map((line) => {
    const [term = '', meaning = '', locations = '', words = ''] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim())
    return {
      term,
      meaning,
      locations: [...locations.matchAll(/`(.*?)`/g)].map(([, location = '']) => location),
      banned: [...words.matchAll(/`(.*?)`(?: \((.*?)\))?/g)].map(([, word = '', locations]) => ban(word, locations?.split(', '))),
    }
  })
}

/** Bans a word, or several in a row, in its regular forms; everywhere, or in the locations given. */
function ban(word: string, locations: string[] = []): Banned {
  const stem = word.replace(/[ey]$/, '')
  return { word, in: locations, pattern: new RegExp(`(?:^| )(?:${word}(?:s|es|ed|ing)?|${stem}(?:ed|ing|ies|ied))(?: |$)`) }
}

/** `takeBack`, `TAKE_BACK` and `take-back.ts` begin with `take back`. */
const wordsOf = (name: string): string => (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).join(' ').toLowerCase()

/** The folders of a path, each with a slash behind it, and the file. */
const partsOf = (path: string): string[] => path.match(/[^/]+\/?/g) ?? []

/** The identifiers of a file, those in its SQL included. */
function namesIn({ path, text }: Source): string[] {
  if (path.endsWith('.sql')) return namesInSql(text)
  if (!/\.(ts|mjs)$/.test(path)) return []
  const names: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) names.push(node.text)
    if (ts.isTaggedTemplateExpression(node) && ts.isIdentifier(node.tag) && node.tag.text === 'sql') names.push(...namesInSql(textOf(node)))
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone }))
  return names
}

/** The text of a template without its values. */
function textOf({ template }: ts.TaggedTemplateExpression): string {
  if (ts.isNoSubstitutionTemplateLiteral(template)) return template.text
  return [template.head, ...template.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join(' ')
}

const namesInSql = (text: string): string[] => text.replace(/--.*|'[^']*'/g, ' ').match(/[a-z_]\w*/gi) ?? []

/** The paths that a location of the glossary can stand for: `modules/` is left out there. */
const pathsOf = (location: string): string[] => [`server/src/${location}`, `${MODULES}${location}`]

const isIn = (path: string, location: string): boolean => pathsOf(location).some((at) => path === at || path.startsWith(`${at}/`))

/** Finds the banned words in the identifiers of files and in their paths. */
function finderOf(banned: Banned[]): (source: Source) => Hit[] {
  const known = new Map<string, Banned[]>()
  return (source) => {
    const { path } = source
    return [...new Set([...partsOf(path), ...namesIn(source)])].flatMap((name) => {
      const words = wordsOf(name)
      const found = known.get(name) ?? banned.filter(({ pattern }) => pattern.test(words))
      known.set(name, found)
      return found
        .filter((one) => one.in.length === 0 || one.in.some((location) => isIn(path, location)))
        .map(({ word }) => ({ word, name, path }))
    })
  }
}

function exceptionFor({ word, name, path }: Hit): Exception | undefined {
  const isHere = (one: Exception) => one.in.some((start) => path.startsWith(start))
  return NAMES.find((one) => one.names.includes(name) && isHere(one)) ?? MEANINGS.find((one) => one.word === word && isHere(one))
}

/** A line for each word, with the names that contain it and the number of files that each is in. */
function reportOf(hits: Hit[]): string[] {
  const lines = [...Map.groupBy(hits, ({ word }) => word)].map(([word, of]) => {
    const names = [...Map.groupBy(of, ({ name }) => name)].map(([name, of]) => ({ name, files: new Set(of.map(({ path }) => path)).size }))
    names.sort((a, b) => b.files - a.files)
    return `${word}: ${names.map(({ name, files }) => `${name} (${files} ${files === 1 ? 'file' : 'files'})`).join(', ')}`
  })
  return lines.sort()
}

describe('the glossary', () => {
  const rows = rowsOf(read('docs/glossary.md').text)
  const banned = rows.flatMap((row) => row.banned)
  const paths = ['server/src', 'server/test', 'server/migrations', 'scripts', 'bench'].flatMap(filesUnder)
  const hits = paths
    .filter((path) => !path.startsWith(RECORDS))
    .map(read)
    .flatMap(finderOf(banned))

  test('no name contains a banned word', () => {
    expect(reportOf(hits.filter((hit) => !exceptionFor(hit)))).toEqual([])
  })

  test('every exception is used', () => {
    const used = new Set(hits.map(exceptionFor))
    expect([...NAMES, ...MEANINGS].filter((one) => !used.has(one))).toEqual([])
  })

  test('every folder and file in it exists', () => {
    const locations = rows.flatMap((row) => [...row.locations, ...row.banned.flatMap((one) => one.in)])
    expect([...new Set(locations)].filter((location) => !pathsOf(location).some((path) => existsSync(join(ROOT, path))))).toEqual([])
  })

  test('every term has a meaning and a folder', () => {
    expect(rows.length).toBeGreaterThan(100)
    expect(rows.filter(({ term, meaning, locations }) => term === '' || !meaning.endsWith('.') || locations.length === 0)).toEqual([])
  })
})

describe('a banned word is found', () => {
  const [row] = rowsOf('| tea | A drink. | `lists` | `lapse`, `take back`, `tally`, coffee, `mark` (lists, pipeline.ts) |')

  test.each<[string, path: string, text: string, names: string[]]>([
    ['in a name of camel case', 'a.ts', 'export const nextLapse = 1', ['nextLapse']],
    ['in capitals', 'a.ts', 'const LAPSE_MS = 1', ['LAPSE_MS']],
    ['in a type, a member and a private name', 'a.ts', 'class Lapse { lapse = 1; #lapse = 2 }', ['Lapse', 'lapse', '#lapse']],
    ['where it is used', 'a.mjs', 'x.lapse({ lapse })', ['lapse']],
    ['in its regular forms', 'a.ts', 'lapses + lapsed + lapsing + tallies', ['lapses', 'lapsed', 'lapsing', 'tallies']],
    ['as several words', 'a.ts', 'takeBack(take_back, takeCare, back)', ['takeBack', 'take_back']],
    ['in a folder', 'take-back/a.ts', '', ['take-back/']],
    ['in a file', 'a/lapse.test.ts', '', ['lapse.test.ts']],
    ['in a table and a column', 'a.sql', "create table lapses (is_lapsed text default 'lapse'); -- lapse", ['lapses', 'is_lapsed']],
    ['in a statement', 'a.ts', `sql\`select lapse_at from a where b = 'lapse' and c = \${d} and lapsed\``, ['lapse_at', 'lapsed']],
    ['but not in other words', 'a.ts', 'collapse + elapsed + coffee', []],
    ['but not in prose or data', 'a.ts', '// lapse\nconst a = "lapse"', []],
    ['in its folder', 'server/src/modules/lists/a.ts', 'mark', ['mark']],
    ['in its file', 'server/src/pipeline.ts', 'mark', ['mark']],
    ['but not in others', 'server/src/modules/lists.ts', 'mark', []],
  ])('%s', (_, path, text, names) => {
    expect(finderOf(row?.banned ?? [])({ path, text }).map(({ name }) => name)).toEqual(names)
  })
})
