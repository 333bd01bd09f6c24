/** curl commands for operations. Values that only the caller knows are shell variables. */

import { sampleOf } from '../infra/http/openapi/samples.ts'
import type { JsonSchema, Operation } from '../infra/http/openapi/types.ts'
import type { Access } from '../infra/http/route.ts'

export type Call = { method: string; path: string; operation: Operation; baseUrl: string }

/** A command that works once its variables are set. */
export function curlOf({ method, path, operation, baseUrl }: Call, resolve: (schema: JsonSchema) => JsonSchema): string {
  const url = baseUrl + path.replace(/\{(\w+)\}/g, (_, name: string) => `$${shellName(name)}`)
  const body = bodyOf(operation, resolve)
  const verb = method === 'get' || (method === 'post' && body.length > 0) ? '' : ` -X ${method.toUpperCase()}`
  return [`curl${verb} "${url}"`, ...headersOf(method, operation), ...body].join(' \\\n  ')
}

function headersOf(method: string, operation: Operation): string[] {
  const access = operation['x-access']
  const headers = [`-H "Authorization: Bearer $${keyOf(access)}"`]
  if (keyOf(access) === 'PUBLISHABLE_KEY') headers.push('-H "X-Service-User-Token: $USER_TOKEN"')
  const isClientCreate =
    method === 'post' && operation.parameters.some((parameter) => '$ref' in parameter && parameter.$ref.endsWith('/IdempotencyKey'))
  return isClientCreate ? [...headers, '-H "Idempotency-Key: $(uuidgen)"'] : headers
}

const keyOf = (access: Access) => ('secret' in access ? 'SECRET_KEY' : 'publishable' in access ? 'PUBLISHABLE_KEY' : 'ORGANISATION_KEY')

function bodyOf({ requestBody }: Operation, resolve: (schema: JsonSchema) => JsonSchema): string[] {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
  if (!requestBody || !media) return []
  if (type === 'application/json') {
    if (!requestBody.required) return []
    return ['-H "Content-Type: application/json"', `-d ${quoted(JSON.stringify(sampleOf(media.schema, resolve, 'needed'), null, 2))}`]
  }
  if (type === 'text/csv') return ['-H "Content-Type: text/csv"', '--data-binary "@users.csv"']
  return Object.entries(sampleOf(media.schema, resolve, 'needed') as Record<string, string>).map(
    ([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`,
  )
}

// Single quotes preserve everything except single quotes.
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Turns `campaignId` into `CAMPAIGN_ID`. */
const shellName = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
