import { type Static, Type } from 'typebox'
import type { ListId } from '../../../lib/ids.ts'
import { Exact, IdOf } from '../../../lib/shapes.ts'

const Day = Type.String({ description: 'A day in UTC, such as `2026-11-20`.' })

export const SizesQuery = Exact({
  list_ids: Type.String({
    pattern: '^[0-9]{1,15}(?:,[0-9]{1,15}){0,99}$',
    problem: 'is not a list of at most 100 ids',
    description: 'Up to 100 list ids, separated by commas.',
  }),
})
export type SizesQuery = Static<typeof SizesQuery>

export const ListSizes = Exact({
  since: Day,
  results: Type.Array(
    Exact({
      list_id: IdOf<ListId>(),
      days: Type.Array(Exact({ day: Day, users: Type.Integer({ description: 'Number of users in the list at the start of that day.' }) }), {
        description: 'The sizes, earliest day first. Days on which no server ran are left out.',
      }),
    }),
  ),
})
export type ListSizes = Static<typeof ListSizes>

export const ListTags = Exact({
  results: Type.Array(Exact({ tag: Type.String(), lists: Type.Integer({ description: 'Number of lists that have the tag.' }) }), {
    description: 'At most 200 tags, those with the most lists first.',
  }),
})
export type ListTags = Static<typeof ListTags>
