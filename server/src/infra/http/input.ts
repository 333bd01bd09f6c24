/** The parameters of a request: of its path, its query and its body. */
import type { FastifyRequest } from 'fastify'
import { ApiError, type Fault, refuse } from '../../lib/errors.ts'
import { parsePairs, toRecord } from './body.ts'
import type { CompiledRoute } from './compile.ts'
import { readPageRequest } from './paging.ts'

/** The query of a request. Throws 400 if a name occurs twice. */
export const queryOf = (request: FastifyRequest): Record<string, string> => toRecord(parsePairs((request.query as { text: string }).text))

/** Whether a query has `limit=-1`, however that is written. Faults of the query are reported when its parameters are read. */
export const asksForAll = (text: string): boolean => /[-%]/.test(text) && text.split('&').some(isLimitOfAll)

function isLimitOfAll(pair: string): boolean {
  try {
    return parsePairs(pair).some(([name, value]) => name === 'limit' && Number(value) === -1)
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/** Checks all parameters together, so that the reply lists all of their faults. */
export function inputOf(route: CompiledRoute, { request, requestId }: { request: FastifyRequest; requestId: string }, value?: unknown) {
  const given = request.params as Record<string, string>
  const params = Object.fromEntries(
    Object.entries(route.def.params ?? {}).map(([name, param]) => [name, param.read(given[name] ?? '', name)]),
  )
  const { query, page, faults } = readQuery(route, request)
  const checked = value === undefined ? { faults: [], value } : route.checkBody(value)
  refuse([...faults, ...checked.faults])
  return { params, query, page, body: checked.value, requestId }
}

const NO_QUERY = { query: {}, page: undefined, faults: [] }

function readQuery(route: CompiledRoute, request: FastifyRequest) {
  if ((request.query as { text: string }).text === '' && !route.def.list && route.queryNames.size === 0) return NO_QUERY
  const given = queryOf(request)
  const unknown: Fault[] = Object.keys(given)
    .filter((name) => !route.queryNames.has(name))
    .map((name) => ({
      code: 'parameter_unknown',
      param: name.slice(0, 255),
      message: `Unrecognised query parameter \`${name.slice(0, 255)}\`.`,
    }))
  const { list } = route.def
  const paging = list ? readPageRequest(list, given) : { request: undefined, faults: [] }
  const own = Object.fromEntries(
    Object.entries(given).filter(([name]) =>
      Object.hasOwn((route.def.query as { properties?: object } | undefined)?.properties ?? {}, name),
    ),
  )
  const { faults, value } = route.checkQuery(own)
  return { query: value, page: paging.request, faults: [...unknown, ...paging.faults, ...faults] }
}
