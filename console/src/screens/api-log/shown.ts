import type { components } from '@carillon/sdk'
import type { ShownRequest } from '../../parts/request-code.ts'

export type Logged = components['schemas']['LoggedRequest']

/** Stands for what the log does not keep, in code that is copied. */
const TO_FILL_IN = 'FILL-IN'

/** The path of a request. A parameter whose value was not kept is shown by its name. */
export const pathOf = ({ route, params }: Pick<Logged, 'route' | 'params'>): string =>
  route.replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole))

/** The request to run again. Where the log kept no value, there is a placeholder to replace. */
export function againOf({ method, route, params, query, body }: Logged): ShownRequest {
  const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  return {
    method,
    path: route,
    params: Object.fromEntries(names.map((name) => [name, String(params[name] ?? TO_FILL_IN)])),
    query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, filled(value)])),
    ...(body !== null && { body }),
  }
}

const filled = (value: unknown): string => (/^\[/.test(String(value)) ? TO_FILL_IN : String(value))

/** Whether a value is missing from the request. */
export const hasGaps = (request: Logged): boolean =>
  JSON.stringify([request.query, request.body]).includes('"[') || pathOf(request).includes('{')
