import { describe, expect, test } from 'vitest'
import { boundaries } from './modules.ts'
import { filesUnder, read } from './sources.ts'

const { text: page } = read('ARCHITECTURE.md')
const files = filesUnder('.')

/** The files that a name may mean: `service.ts` any of that name, `users/service.ts` those in such a folder. */
const filesCalled = (name: string): string[] => files.filter((path) => path === name || path.endsWith(`/${name}`))

/** The files and folders that a text names, without patterns such as `<name>.queries.ts`. */
const namedIn = (text: string): string[] =>
  [...text.matchAll(/`([\w.-]+(?:\/[\w.-]*)*\.\w+|[\w-]+(?:\/[\w-]+)+)`/g)].map(([, name]) => name as string)

const isThere = (name: string): boolean => filesCalled(name).length > 0 || files.some((path) => `/${path}`.includes(`/${name}/`))

/** The names that a text places in a file: `file.ts` `name`. */
const placedIn = (text: string): { file: string; name: string }[] =>
  [...text.matchAll(/`([\w./-]+\.ts)`\s+`(\w+)`(?: and `(\w+)`)?/g)].flatMap(([, file, ...names]) =>
    names.filter((name) => name !== undefined).map((name) => ({ file: file as string, name })),
  )

const isDeclared = ({ file, name }: { file: string; name: string }): boolean =>
  filesCalled(file).some((path) => new RegExp(`\\b(?:function|const|type) ${name}\\b`).test(read(path).text))

/** The points of a section. */
const pointsOf = (heading: string): string[] => {
  const section = page.split(/^## /m).find((part) => part.startsWith(heading)) ?? ''
  return section.split(/^- /m).slice(1)
}

const rules = boundaries.map(({ name }) => name)

/** Tests and rules of the boundaries that a text cites and that exist. */
const evidenceIn = (text: string): string[] =>
  [...text.matchAll(/`([\w./-]+)`/g)]
    .map(([, name]) => name as string)
    .filter((name) => (name.endsWith('.test.ts') ? filesCalled(name).length > 0 : rules.includes(name)))

describe('ARCHITECTURE.md', () => {
  test('names files and folders that exist', () => {
    expect(namedIn(page).filter((name) => !isThere(name))).toEqual([])
  })

  test('names every folder', () => {
    const folders = new Set(
      files.flatMap((path) => {
        const [, folder] = /^((?:server\/src\/(?:modules\/[\w-]+(?:\/[\w-]+)?|(?:infra|lib)\/[\w-]+|[\w-]+)|[\w-]+))\/[^/]/.exec(path) ?? []
        return folder === undefined ? [] : [folder]
      }),
    )
    const named = new Set([...page.matchAll(/`([\w./-]+)`/g)].flatMap(([, name = '']) => name.split('/')))
    expect([...folders].filter((folder) => !named.has(folder.split('/').at(-1) as string))).toEqual([])
    expect(folders.size).toBeGreaterThan(80)
  })

  test('names functions where they are', () => {
    expect(placedIn(page).filter((place) => !isDeclared(place))).toEqual([])
    expect(placedIn(page).length).toBeGreaterThan(15)
  })

  test('cites for each claim what holds it', () => {
    const claims = pointsOf('What holds everywhere')
    expect(claims.length).toBeGreaterThan(8)
    expect(claims.filter((claim) => evidenceIn(claim).length === 0)).toEqual([])
  })

  test('has no rule cited that is none', () => {
    const cited = [...page.matchAll(/((?:`[\w-]+`(?:,\s+| and )?)+) of the boundaries/g)].flatMap(([, names]) => [
      ...(names ?? '').matchAll(/`([\w-]+)`/g),
    ])
    expect(cited.map(([, name]) => name).filter((name) => !rules.includes(name as string))).toEqual([])
  })
})

test.each([
  ['a file that is not there', () => isThere('users/nowhere.ts'), false],
  ['a folder that is not there', () => isThere('users/nowhere'), false],
  ['a function in another file', () => isDeclared({ file: 'users/batch.ts', name: 'upsertUsers' }), false],
  ['a test that is not there', () => evidenceIn('It holds: `house/nowhere.test.ts`.').length > 0, false],
  ['a function in its file', () => isDeclared({ file: 'users/upsert-users.ts', name: 'upsertUsers' }), true],
])('%s is told apart', (_, found, expected) => {
  expect(found()).toBe(expected)
})
