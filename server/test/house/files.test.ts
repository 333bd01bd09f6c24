import { describe, expect, test } from 'vitest'
import { filesUnder, read, sourcesOf } from './sources.ts'

const LINES_MAX = 300

/** Longer files, each of which is one table from top to bottom. */
const TABLES = [
  'server/src/modules/channels/providers/recorded/ses.ts',
  'server/src/modules/tools/schema.ts',
  'server/src/modules/users/queries.ts',
  'server/src/modules/webhooks/queries.ts',
]

const TEXT = /\.(ts|mjs|cjs|json|md|sql|sh|yaml|yml|grit)$|(^|\/)[^.]+$/

describe('files', () => {
  const long = sourcesOf('server/src').filter(({ text }) => text.split('\n').length - 1 > LINES_MAX)

  test('are short, unless they are a table', () => {
    expect(long.map(({ path }) => path).filter((path) => !TABLES.includes(path))).toEqual([])
  })

  test('no exception is left over', () => {
    expect(TABLES.filter((path) => !long.some((source) => source.path === path))).toEqual([])
  })

  test('know nothing of the machine they were written on', () => {
    const places = new RegExp(`(^|[\\s"'\`(=])/(${['work', 'root', 'home/\\w+', 'Users/\\w+'].join('|')})/`, 'm')
    const files = filesUnder('.').filter((path) => TEXT.test(path) && path !== 'package-lock.json')
    expect(
      files
        .map(read)
        .filter(({ text }) => places.test(text))
        .map(({ path }) => path),
    ).toEqual([])
  })

  test('of lib and of modules take from node:net only what computes', () => {
    const imports = [...sourcesOf('server/src/lib'), ...sourcesOf('server/src/modules')].flatMap(({ text }) =>
      [...text.matchAll(/import (.*) from 'node:net'/g)].map(([, names]) => names),
    )
    expect(imports.filter((names) => !/^\{ (isIP|BlockList|isIPv4|isIPv6|, )+ \}$/.test(names ?? ''))).toEqual([])
  })

  test('of a module open with a paragraph about it', () => {
    const doors = sourcesOf('server/src/modules').filter(({ path }) => /modules\/[\w-]+\/index\.ts$/.test(path))
    expect(doors.filter(({ text }) => !text.startsWith('/**\n')).map(({ path }) => path)).toEqual([])
  })
})
