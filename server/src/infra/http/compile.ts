import { type TSchema, Type } from 'typebox'
import { Exact } from '../../lib/shapes.ts'
import { type Check, checker } from '../../lib/validate.ts'
import { PAGING_PARAMETERS } from './paging.ts'
import type { ConsoleAccess, Route } from './route.ts'

/** A route with its validators. */
export type CompiledRoute = {
  def: Route
  isExt: boolean
  /** The rule of a route of the console. */
  consoleAccess: ConsoleAccess | undefined
  takes: 'json' | 'form' | 'stream' | 'nothing'
  /** The kind of reply: `file` is a download, `live` are Server-Sent Events. */
  replies: 'json' | 'file' | 'live'
  checkBody: Check<unknown>
  checkQuery: Check<unknown>
  /** Query parameters of the route, those of paging included. */
  queryNames: Set<string>
}

/** Shared by all routes without a body or query, because a validator is compiled for each schema object. */
const NOTHING = Exact({})

export function compileRoute(def: Route): CompiledRoute {
  const query = (def.query ?? NOTHING) as TSchema & { properties: Record<string, TSchema> }
  const names = [...Object.keys(query.properties), ...(def.list ? PAGING_PARAMETERS : [])]
  return {
    def,
    isExt: def.path.startsWith('/api/ext/'),
    consoleAccess: 'member' in def.access || 'open' in def.access ? def.access : undefined,
    takes: def.stream ? 'stream' : def.form ? 'form' : def.body ? 'json' : 'nothing',
    replies: repliesOf(def.reply),
    checkBody: checker(envelope(def.form ?? def.body ?? NOTHING)),
    checkQuery: checker(query),
    queryNames: new Set(names),
  }
}

function repliesOf(reply: (TSchema & { contentMediaType?: string }) | undefined): CompiledRoute['replies'] {
  if (reply?.contentMediaType === undefined) return 'json'
  return reply.contentMediaType === 'text/event-stream' ? 'live' : 'file'
}

/** Leaves out the items that the module checks one by one, because one invalid item must not reject the batch. */
function envelope(schema: TSchema): TSchema {
  if (!('itemwise' in schema)) return schema
  const { itemwise: _, items: __, ...rest } = schema as TSchema & { itemwise: boolean; items: TSchema }
  return Type.Unsafe(rest)
}
