import { describe, expect, test } from 'vitest'
import { changedReadState } from './read-state.ts'
import type { ReadState, ReadStateChanges } from './schema.ts'

const then = new Date('2026-11-23T08:00:00.000Z')
const now = new Date('2026-11-23T09:00:00.000Z')
const fresh: ReadState = { seen_at: null, read_at: null, clicked_at: null, archived_at: null }
const seen: ReadState = { ...fresh, seen_at: then }
const read: ReadState = { ...seen, read_at: then }
const clicked: ReadState = { ...read, clicked_at: then }
const archived: ReadState = { ...fresh, archived_at: then }

describe('changedReadState', () => {
  test.each<[string, ReadState, ReadStateChanges, Partial<ReadState>, unread: number, done: string[]]>([
    ['seen', fresh, { seen: true }, { seen_at: now }, 0, ['opened']],
    ['read, and so seen', fresh, { read: true }, { seen_at: now, read_at: now }, -1, ['opened']],
    ['read after it was seen', seen, { read: true }, { read_at: now }, -1, []],
    ['clicked, and so read and seen', fresh, { clicked: true }, { seen_at: now, read_at: now, clicked_at: now }, -1, ['opened', 'clicked']],
    ['clicked after it was read', read, { clicked: true }, { clicked_at: now }, 0, ['clicked']],
    ['clicked and kept unread', seen, { clicked: true, read: false }, { clicked_at: now }, 0, ['clicked']],
    ['unread again, but still seen', read, { read: false }, { read_at: null }, 1, []],
    ['unread again, but still clicked', clicked, { read: false }, { read_at: null }, 1, []],
    ['archived unread', fresh, { archived: true }, { archived_at: now }, -1, []],
    ['archived when read', read, { archived: true }, { archived_at: now }, 0, []],
    ['unarchived and still unread', archived, { archived: false }, { archived_at: null }, 1, []],
    ['read in the archive', archived, { read: true }, { seen_at: now, read_at: now }, 0, ['opened']],
    ['read and archived at once', fresh, { read: true, archived: true }, { seen_at: now, read_at: now, archived_at: now }, -1, ['opened']],
  ])('%s', (_, before, change, after, unread, done) => {
    expect(changedReadState(before, change, now)).toEqual({ readState: { ...before, ...after }, unread, done })
  })

  test.each<[ReadState, ReadStateChanges]>([
    [fresh, {}],
    [fresh, { read: false }],
    [fresh, { archived: false }],
    [seen, { seen: true }],
    [read, { read: true }],
    [read, { seen: true, read: true }],
    [clicked, { clicked: true }],
    [archived, { archived: true }],
  ])('%o does not change with %o', (before, change) => {
    expect(changedReadState(before, change, now)).toBeUndefined()
  })
})
