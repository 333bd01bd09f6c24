import { describe, expect, test } from 'vitest'
import { filesUnder, read } from './sources.ts'

const PAGE = 'docs/decisions/api.md'
const MARKER = '(not cited)'

/** This file is left out, because its examples are not citations. */
const THIS_FILE = 'server/test/house/decisions.test.ts'

const CITING = /^(?:server|scripts|bench|docs)\/|^[^/]+\.md$/

const HEADING = /^### (?<id>\S+)(?<rest>.*)$/gm
const ID = /^D-[A-Z]+(?:-[A-Z]+)*(?:-\d+[a-z]?)?$/

/** An id, a range (`1 to 3`), several (`2/3`), or a group without a number. */
const CITATION =
  /(?<![\w-])D-(?<group>[A-Z]+(?:-[A-Z]+)*)(?:-(?<first>\d+[a-z]?)(?:(?: to |–)(?:D-\k<group>-)?(?<last>\d+)|(?<more>(?:\/\d+[a-z]?)+))?)?(?!\w)/g

/** The ids that a text cites. A group without decisions is returned unchanged. */
function citedIn(text: string, decided: readonly string[]): string[] {
  const line = text.replace(/\s+(?:(?:\*|\/\/|--|#) )?/g, ' ')
  return [...line.matchAll(CITATION)].flatMap(({ groups: { group, first, last, more } = {} }) => {
    if (first === undefined) {
      const found = decided.filter((id) => id.replace(/-\d+[a-z]?$/, '') === `D-${group}`)
      return found.length > 0 ? found : [`D-${group}`]
    }
    const start = Number.parseInt(first, 10)
    const rest = last === undefined ? [] : Array.from({ length: Math.max(0, Number(last) - start) }, (_, at) => `${start + at + 1}`)
    return [first, ...rest, ...(more?.split('/').slice(1) ?? [])].map((number) => `D-${group}-${number}`)
  })
}

const headings = [...read(PAGE).text.matchAll(HEADING)].map(({ groups: { id = '', rest = '' } = {} }) => ({
  id,
  isMarked: rest.endsWith(` ${MARKER}`),
}))
const decided = headings.map(({ id }) => id)

const citations = filesUnder('.')
  .filter((path) => CITING.test(path) && path !== THIS_FILE && !path.endsWith('.png'))
  .map(read)
  .flatMap(({ path, text }) => citedIn(text, decided).map((id) => ({ path, id })))
const citedElsewhere = new Set(citations.filter(({ path }) => path !== PAGE).map(({ id }) => id))

describe('decisions about the API', () => {
  test('have a heading that begins with their id, each exactly one', () => {
    expect(decided.filter((id) => !ID.test(id))).toEqual([])
    expect(decided.filter((id, at) => decided.indexOf(id) !== at)).toEqual([])
  })

  test('exist if they are cited', () => {
    expect(citations.filter(({ id }) => !decided.includes(id)).map(({ path, id }) => `${path}: ${id}`)).toEqual([])
  })

  test(`are cited or marked ${MARKER}`, () => {
    expect(headings.filter(({ id, isMarked }) => !isMarked && !citedElsewhere.has(id)).map(({ id }) => id)).toEqual([])
  })

  test(`are not marked ${MARKER} if they are cited`, () => {
    expect(headings.filter(({ id, isMarked }) => isMarked && citedElsewhere.has(id)).map(({ id }) => id)).toEqual([])
  })
})

test.each<[string, string[]]>([
  ['as D-A-1 says (D-B-2a)', ['D-A-1', 'D-B-2a']],
  ['D-A-1 to D-A-3', ['D-A-1', 'D-A-2', 'D-A-3']],
  ['D-A-1 to\n * D-A-2', ['D-A-1', 'D-A-2']],
  ['D-A-2 to 4, D-A-7', ['D-A-2', 'D-A-3', 'D-A-4', 'D-A-7']],
  ['D-A-1 to D-B-3', ['D-A-1', 'D-B-3']],
  ['D-A-1–2', ['D-A-1', 'D-A-2']],
  ['D-A-2/3.', ['D-A-2', 'D-A-3']],
  ['D-A-X-1', ['D-A-X-1']],
  ['the group D-A', ['D-A-1', 'D-A-2']],
  ['one without a number: D-B', ['D-B']],
  ['a group without decisions: D-C', ['D-C']],
  ['AD-A-1, x-D-A-1, D-Aa, D-1', []],
])('%j cites %j', (text, ids) => expect(citedIn(text, ['D-A-1', 'D-A-2', 'D-A-X-1', 'D-B'])).toEqual(ids))
