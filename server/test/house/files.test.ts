import { describe, expect, test } from 'vitest'
import { filesUnder, read, sourcesOf } from './sources.ts'

const LINES_MAX = 300

/** Longer files, which are tables of similar entries. */
const TABLES = [
  'server/src/api-description/examples/messages.ts',
  'server/src/api-description/members.ts',
  'server/src/infra/runtime/settings.ts',
  'server/src/modules/channels/providers/recorded/ses.ts',
  'server/src/modules/mta/shaping/replies-of-servers.ts',
  'server/src/modules/mta/shaping/reply-texts.ts',
  'server/src/modules/tools/schema.ts',
]

const TEXT = /\.(ts|mjs|cjs|json|md|sql|sh|yaml|yml|grit)$|(^|\/)[^.]+$/

describe('files', () => {
  const screens = filesUnder('console/src').filter((path) => path.endsWith('.tsx'))
  const sources = [...sourcesOf('server/src'), ...sourcesOf('console/src'), ...screens.map(read)]
  const long = sources.filter(({ text }) => text.split('\n').length - 1 > LINES_MAX)

  test('have at most 300 lines, unless they are tables', () => {
    expect(long.map(({ path }) => path).filter((path) => !TABLES.includes(path))).toEqual([])
  })

  test('every exception is needed', () => {
    expect(TABLES.filter((path) => !long.some((source) => source.path === path))).toEqual([])
  })

  test('contain no absolute paths of a computer', () => {
    const places = new RegExp(`(^|[\\s"'\`(=])/(${['work', 'root', 'home/\\w+', 'Users/\\w+'].join('|')})/`, 'm')
    const files = filesUnder('.').filter((path) => TEXT.test(path) && path !== 'package-lock.json')
    expect(
      files
        .map(read)
        .filter(({ text }) => places.test(text))
        .map(({ path }) => path),
    ).toEqual([])
  })

  test('of lib and of modules import only functions without input or output from node:net', () => {
    const imports = [...sourcesOf('server/src/lib'), ...sourcesOf('server/src/modules')].flatMap(({ text }) =>
      [...text.matchAll(/import (.*) from 'node:net'/g)].map(([, names]) => names),
    )
    expect(imports.filter((names) => !/^\{ (isIP|BlockList|isIPv4|isIPv6|, )+ \}$/.test(names ?? ''))).toEqual([])
  })

  test('index.ts of each module begins with a paragraph about it', () => {
    const indexes = sourcesOf('server/src/modules').filter(({ path }) => /modules\/[\w-]+\/index\.ts$/.test(path))
    expect(indexes.filter(({ text }) => !text.startsWith('/**\n')).map(({ path }) => path)).toEqual([])
  })
})
