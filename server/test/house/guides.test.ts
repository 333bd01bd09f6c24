/** The pages that users read share one shorthand for requests, and what they call exists. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { routes } from '../all-routes.ts'
import { blocksOf, fileNameOf, fits, needOf, PAGES, readPage, stepsOf } from '../guides.ts'

const shellOf = (page: string) =>
  blocksOf(readPage(page))
    .filter(({ language }) => language === 'sh')
    .map(({ code }) => code)

type Call = { method: string; path: string }

/** The requests of a page, each with its whole command. A command continues while quotes are open. */
function callsIn(page: string): Call[] {
  const code = shellOf(page).join('\n')
  return [...code.matchAll(/(?<=^|[\s(])(?<!start )(api|me) ("[^"]+"|[^\s"']+)((?:'[^']*'|"[^"]*"|\\\n|[^'"\n|])*)/g)].map(
    ([, name = '', path = '', options = '']) => {
      const [, method = / (?:-d|-T) /.test(options) ? 'POST' : 'GET'] = / -X ([A-Z]+)/.exec(options) ?? []
      const plain = path.replaceAll('"', '').replace(/\?.*/s, '')
      return { method, path: `/api/client/${name === 'me' ? 'users/me/' : ''}${plain}` }
    },
  )
}

/** Whether a path of an example is that of a route: an id, a name or a variable stands for a parameter. */
function leadsTo(route: string, path: string): boolean {
  const [wanted, given] = [route.split('/'), path.split('/')]
  return wanted.length === given.length && wanted.every((part, at) => part === given[at] || part.startsWith('{'))
}

/** Options of curl 7.68 that the pages use. Newer ones, such as `--json` and `--url-query`, are in few distributions of Linux. */
const CURL_OPTIONS = ['-A', '-D', '-H', '-T', '-X', '-d', '-f', '-o', '-s', '-sS', '-sf', '-w']

describe.each(PAGES)('%s', (page) => {
  const calls = callsIn(page)

  test('calls routes that exist', () => {
    const unknown = calls.filter(
      ({ method, path }) => !path.includes('$1') && !routes.some((route) => route.method === method && leadsTo(route.path, path)),
    )
    expect(unknown).toEqual([])
  })

  test('leads to the definition of the shorthand if it uses it', () => {
    const isLinked = readPage(page).includes('shorthand.md)') || page === 'docs/guide/shorthand.md'
    expect(isLinked || calls.length === 0).toBe(true)
  })

  test('uses options that curl 7.68 has', () => {
    const commands = shellOf(page).flatMap((code) => [...code.matchAll(/^.*(?<![\w-])(?:curl|api|me) .*$/gm)].map(([line]) => line))
    const options = commands.flatMap((line) =>
      [...line.replace(/'[^']*'|"[^"]*"/g, '').matchAll(/(?<=\s)--?[A-Za-z][\w-]*/g)].map(([option]) => option),
    )
    expect([...new Set(options)].filter((option) => !CURL_OPTIONS.includes(option))).toEqual([])
  })
})

/** The anchors of the headings of a page, as GitHub and the pages of the server have them. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#{1,4} (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

const LINKED = [...PAGES, 'docs/README.md']

test.each(LINKED)('every link in %s leads to a file and a heading that exist', (page) => {
  const links = [...readPage(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^https?:/.test(link))
  const broken = links.filter((link) => {
    const { pathname, hash } = new URL(link, `file:///${page}`)
    const path = fileURLToPath(new URL(`../../../${pathname.slice(1)}`, import.meta.url))
    return !existsSync(path) || (hash !== '' && !anchorsOf(readFileSync(path, 'utf8')).includes(decodeURIComponent(hash.slice(1))))
  })
  expect(broken).toEqual([])
})

test('25 questions have an answer', () => {
  const rows = [...readPage('docs/README.md').matchAll(/^\| (\d+)\. [^|]+\? \| .*\]\(.*\) \|$/gm)].map(([, number]) => Number(number))
  expect(rows).toEqual(Array.from({ length: 25 }, (_, at) => at + 1))
})

/** The text below a heading, up to the next one of its level or above; below a title, up to the first section. */
function sectionOf(page: string, anchor: string): string {
  const parts = readPage(page).split(/^(?=#{1,4} )/m)
  const at = parts.findIndex((part) => anchorsOf(part.split('\n', 1)[0] ?? '')[0] === anchor)
  const level = (part: string) => /^#*/.exec(part)?.[0].length ?? 0
  const first = parts[at] ?? ''
  const rest = parts.slice(at + 1)
  const end = rest.findIndex((part) => level(part) <= Math.max(2, level(first)))
  return [first, ...(level(first) === 1 ? [] : rest.slice(0, end === -1 ? rest.length : end))].join('')
}

test('each answer of the 25 is a section that shows a command, a table or steps, or is a reference', () => {
  const rows = [...readPage('docs/README.md').matchAll(/^\| \d+\. [^|]+\? \| (.*) \|$/gm)].map(([, answer = '']) => answer)
  const links = rows.flatMap((answer) => [...answer.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link))
  const poor = links.filter((link) => {
    const { pathname, hash } = new URL(link, 'file:///docs/README.md')
    if (pathname.startsWith('/docs/reference/')) return false
    return hash === '' || !/^(?:```|\||- |1\. )/m.test(sectionOf(pathname.slice(1), decodeURIComponent(hash.slice(1))))
  })
  expect([rows.length, poor]).toEqual([25, []])
})

test('every guide is in the overview of the documentation', () => {
  const overview = readPage('docs/README.md')
  const guides = PAGES.filter((page) => page.startsWith('docs/')).map((page) => page.slice('docs/'.length))
  expect(guides.filter((page) => !overview.includes(`(${page}`))).toEqual([])
})

test('the defaults of settings are printed as they are written in the environment', () => {
  const page = readPage('docs/reference/configuration.md')
  expect(page).not.toContain('[object')
  expect(page).toContain('| `MTA_LIMITS` | JSON | `{}` |')
})

test('requests are found', () => {
  expect(PAGES.flatMap(callsIn).length).toBeGreaterThan(150)
})

test('the shorthand is the same in the README and in the guides, and no other page defines it', () => {
  const definitions = PAGES.flatMap((page) => shellOf(page).filter((code) => code.includes('api() {')))
  expect(definitions).toHaveLength(2)
  expect(new Set(definitions).size).toBe(1)
})

test('a block is read as commands and what they print', () => {
  const code = 'LIST=$(api lists)\napi x -d \'{\n  "a": 1 }\'\n# {"id":…,\n#  "a":1}\napi y  # a comment\n'
  expect(stepsOf({ language: 'sh', code })).toEqual([
    { command: 'LIST=$(api lists)\napi x -d \'{\n  "a": 1 }\'\n', prints: '{"id":…,\n "a":1}\n' },
    { command: 'api y  # a comment\n' },
  ])
})

test.each([
  ['{"id":…,"a":1}', '{"id":7,"a":1}\n', true],
  ['{"id":…, "a": 1}', '{"id":7,"a":1}', true],
  ['{"a":1}', 'first\n{"a":1}\n', true],
  ['{"a":1}', '{"a":12}', false],
  ['{"a":1}', '{"a":1}\nlast', false],
  ['{"a":1…}', '{"b":1}', false],
])('%j is printed by a command whose output is %j: %s', (prints, output, expected) => expect(fits(prints, output)).toBe(expected))

test('the first line of a block names a file, or what the block needs', () => {
  const block = (code: string) => ({ language: 'sh', code })
  expect(fileNameOf(block('// server.mjs\nrun()\n'))).toBe('server.mjs')
  expect(fileNameOf(block('# a comment\nrun\n'))).toBeUndefined()
  expect(needOf(block('# Needs an account at Google.\nrun\n'))).toBe('Needs an account at Google.')
  expect(needOf(block('run\n# Needs an account at Google.\n'))).toBeUndefined()
})
