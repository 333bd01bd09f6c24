/**
 * Which events there are and what they carry. Counts and times are kept as events are stored, and are of this moment.
 * Attributes are those of the latest events of each name, read when somebody asks: up to 50 of a name, and about 5,000 of a page.
 */
import { type Static, Type } from 'typebox'
import type { PageOf, PageRequest } from '../../infra/http/paging.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { pathOfKey } from '../../lib/attribute-paths.ts'
import { Exact, Timestamp } from '../../lib/shapes.ts'
import { Coverage, Samples } from '../users/index.ts'
import { RECENT_KEPT } from './counts.ts'
import * as queries from './reading.queries.ts'

const LOOKED_AT_MAX = 5000
const ATTRIBUTES_MAX = 100

export const EventType = Exact({
  name: Type.String(),
  count: Type.Integer({ description: 'How many there were.' }),
  first_seen: Timestamp,
  last_seen: Timestamp,
  attributes: Type.Array(
    Exact({
      key: Type.String({ description: 'As a rule names it: `data.total`. A dot within a key is written `\\.`, a backslash `\\\\`.' }),
      types: Type.Array(Type.String(), { description: 'Of its values: `string`, `number`, `boolean`, `array`, `object`.' }),
      coverage: Coverage,
      samples: Samples,
    }),
    { description: `Of the latest events, at most ${RECENT_KEPT}; the most frequent attributes first, at most ${ATTRIBUTES_MAX}.` },
  ),
})
type EventType = Static<typeof EventType>

/** A page of the names of events, each with what its events carry. */
export async function listEventTypes(ctx: ProjectCtx, page: PageRequest): Promise<PageOf<EventType>> {
  const found = await queries.listNames(ctx, page)
  const names = found.results.map(({ name }) => name)
  const each = Math.max(1, Math.min(RECENT_KEPT, Math.floor(LOOKED_AT_MAX / Math.max(1, names.length))))
  const attributes = Map.groupBy(await queries.attributesOfLatest(ctx, names, each, ATTRIBUTES_MAX), ({ name }) => name)
  const results = found.results.map(({ id: _, ...event }) => ({
    ...event,
    attributes: (attributes.get(event.name) ?? []).map(({ name: _, key, ...attribute }) => ({
      key: pathOfKey(key),
      ...attribute,
    })),
  }))
  return { ...found, results }
}
