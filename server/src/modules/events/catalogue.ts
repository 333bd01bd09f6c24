/**
 * The names of events and the attributes of their data. Counts and times are updated when events are stored, and are exact. Attributes
 * are read for each request, from the latest events of each name: up to 50 for a name, and about 5,000 for a page.
 */
import { type Static, Type } from 'typebox'
import type { PageOf, PageRequest } from '../../infra/http/paging.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { pathOfKey } from '../../lib/attribute-paths.ts'
import { Exact, Timestamp } from '../../lib/shapes.ts'
import { Coverage, hiddenKeysOf, Samples } from '../users/index.ts'
import { RECENT_KEPT } from './counts.ts'
import * as queries from './reading.queries.ts'

const READ_MAX = 5000
const ATTRIBUTES_MAX = 100

export const EventType = Exact({
  name: Type.String(),
  count: Type.Integer({ description: 'The number of events.' }),
  first_seen: Timestamp,
  last_seen: Timestamp,
  attributes: Type.Array(
    Exact({
      key: Type.String({
        description: 'The name of the attribute in rules, such as `data.total`. A dot in a key is written `\\.`, a backslash `\\\\`.',
      }),
      types: Type.Array(Type.String(), { description: 'The types of its values: `string`, `number`, `boolean`, `array`, `object`.' }),
      coverage: Coverage,
      samples: Samples,
    }),
    {
      description: `The attributes of up to ${RECENT_KEPT} of the latest events, the most frequent attributes first. At most ${ATTRIBUTES_MAX}.`,
    },
  ),
})
type EventType = Static<typeof EventType>

/** A page of the names of events, each with the attributes of its events. */
export async function listEventTypes(ctx: ProjectCtx, page: PageRequest): Promise<PageOf<EventType>> {
  const found = await queries.listNames(ctx, page)
  const names = found.results.map(({ name }) => name)
  const each = Math.max(1, Math.min(RECENT_KEPT, Math.floor(READ_MAX / Math.max(1, names.length))))
  const latest = await queries.attributesOfLatest(ctx, names, each, ATTRIBUTES_MAX, await hiddenKeysOf(ctx))
  const attributes = Map.groupBy(latest, ({ name }) => name)
  const results = found.results.map(({ id: _, ...event }) => ({
    ...event,
    attributes: (attributes.get(event.name) ?? []).map(({ name: _, key, ...attribute }) => ({
      key: pathOfKey(key),
      ...attribute,
    })),
  }))
  return { ...found, results }
}
