/** The guides and the README share one shorthand for requests, and what they call exists. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { routes } from '../all-routes.ts'

const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const blocksOf = (text: string) => [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block as string)

const guides = readdirSync(new URL('docs/guide/', root)).map((file) => `docs/guide/${file}`)
const pages = ['README.md', ...guides]

type Call = { method: string; path: string }

/** The requests of a page, each with its whole command. A command continues while quotes are open. */
function callsIn(text: string): Call[] {
  const code = blocksOf(text).join('\n')
  return [...code.matchAll(/(?:^|\s|\()(api|me) ("[^"]+"|[^\s"']+)((?:'[^']*'|"[^"]*"|\\\n|[^'"\n])*)/g)].map(
    ([, name = '', path = '', options = '']) => {
      const [, method = / (?:-d|-T) /.test(options) ? 'POST' : 'GET'] = / -X ([A-Z]+)/.exec(options) ?? []
      const plain = path.replaceAll('"', '').replace(/\?.*/s, '')
      return { method, path: `/api/client/${name === 'me' ? 'users/me/' : ''}${plain}` }
    },
  )
}

/** Whether a path of an example is that of a route: an id, a name or a variable stands for a parameter. */
function fits(route: string, path: string): boolean {
  const [wanted, given] = [route.split('/'), path.split('/')]
  return wanted.length === given.length && wanted.every((part, at) => part === given[at] || part.startsWith('{'))
}

describe.each(pages)('%s', (page) => {
  const text = read(page)
  const calls = callsIn(text)

  test('calls routes that exist', () => {
    const unknown = calls.filter(
      ({ method, path }) => !path.includes('$1') && !routes.some((route) => route.method === method && fits(route.path, path)),
    )
    expect(unknown).toEqual([])
  })

  test('has no request without the shorthand, and leads to its definition', () => {
    const lines = blocksOf(text)
      .join('\n')
      .split('\n')
      .filter((line) => /\bcurl\b/.test(line))
    expect(lines.filter((line) => !line.startsWith('api() {'))).toEqual([])
    const isDefined = lines.length > 0 || text.includes('(shorthand.md)')
    expect(isDefined || calls.length === 0).toBe(true)
  })
})

test('requests are found', () => {
  expect(pages.flatMap((page) => callsIn(read(page))).length).toBeGreaterThan(40)
})

test('the shorthand is the same in the README and in the guides', () => {
  const definitions = pages.flatMap((page) => blocksOf(read(page)).filter((block) => block.includes('api() {')))
  expect(definitions).toHaveLength(2)
  expect(new Set(definitions).size).toBe(1)
})
