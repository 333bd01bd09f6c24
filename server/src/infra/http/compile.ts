import { type TSchema, Type } from 'typebox'
import { Exact } from '../../lib/shapes.ts'
import { type Check, checker } from '../../lib/validate.ts'
import { PAGING_PARAMETERS } from './paging.ts'
import type { Route } from './route.ts'

/** A route with its validators compiled, once, when the server is put together. */
export type CompiledRoute = {
  def: Route
  isExt: boolean
  takes: 'json' | 'form' | 'stream' | 'nothing'
  /** What the reply is: a file is written as it is read, and a live one goes on. */
  answers: 'json' | 'file' | 'live'
  checkBody: Check<unknown>
  checkQuery: Check<unknown>
  /** Query parameters the route knows. */
  queryNames: Set<string>
}

/** One object for all who take nothing: a validator is made for each object, and most routes are such. */
const NOTHING = Exact({})

export function compileRoute(def: Route): CompiledRoute {
  const query = (def.query ?? NOTHING) as TSchema & { properties: Record<string, TSchema> }
  const names = [...Object.keys(query.properties), ...(def.list ? PAGING_PARAMETERS : [])]
  return {
    def,
    isExt: def.path.startsWith('/api/ext/'),
    takes: def.stream ? 'stream' : def.form ? 'form' : def.body ? 'json' : 'nothing',
    answers: answersOf(def.reply),
    checkBody: checker(envelope(def.form ?? def.body ?? NOTHING)),
    checkQuery: checker(query),
    queryNames: new Set(names),
  }
}

function answersOf(reply: (TSchema & { contentMediaType?: string }) | undefined): CompiledRoute['answers'] {
  if (reply?.contentMediaType === undefined) return 'json'
  return reply.contentMediaType === 'text/event-stream' ? 'live' : 'file'
}

/** Items that are checked one by one by their module are left alone here: one bad item must not reject a batch. */
function envelope(schema: TSchema): TSchema {
  if (!('itemwise' in schema)) return schema
  const { itemwise: _, items: __, ...rest } = schema as TSchema & { itemwise: boolean; items: TSchema }
  return Type.Unsafe(rest)
}
