/**
 * Versions of objects (D-HTTP-11): replies carry an `ETag`, and a write with `If-Match` or `If-None-Match` takes effect only on the version
 * that they name, so that no client overwrites what it has not seen.
 */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { canonicalJson } from '../../lib/canonical-json.ts'
import { ApiError, fault } from '../../lib/errors.ts'

/** What of an object is its version. Members that change by themselves, such as counts, are left out. */
export type Versioned =
  | {
      /** In a reply. */
      of(reply: never): unknown
      /** In the state that the audit log records, if that is another one. */
      ofState?(state: never): unknown
    }
  // Writes that reply with something else than the object.
  | { of?: undefined; ofState(state: never): unknown }

/** The conditions of a write: tags without their quotes, or `*` for any version. */
export type Conditions = { ifMatch?: '*' | string[]; ifNoneMatch?: '*' | string[] }

const TAGS_LENGTH_MAX = 4096
const TAG = /^(?:W\/)?"([!#-~]*)"$/

const tagOf = (content: unknown): string => createHash('sha256').update(canonicalJson(content)).digest('base64url').slice(0, 27)
const quoted = (tag: string) => `"${tag}"`

/** The `ETag` of a reply body, if that is the object. */
export const etagOf = ({ of }: Versioned, body: string): string | undefined => of && quoted(tagOf(of(JSON.parse(body) as never)))

const contentIn = (versioned: Versioned, state: never): unknown =>
  versioned.of ? (versioned.ofState ?? versioned.of)(state) : versioned.ofState(state)

/** Reads the conditions of a request. Throws 400. */
export function readConditions(headers: IncomingHttpHeaders): Conditions {
  const ifMatch = readTags('If-Match', headers['if-match'])
  const ifNoneMatch = readTags('If-None-Match', headers['if-none-match'])
  return { ...(ifMatch && { ifMatch }), ...(ifNoneMatch && { ifNoneMatch }) }
}

/** A tag that a proxy has made weak stands for the same version: it names the content and not its bytes. */
function readTags(name: string, text: string | undefined): '*' | string[] | undefined {
  if (text === undefined) return undefined
  if (text.trim() === '*') return '*'
  const tags = text.length > TAGS_LENGTH_MAX ? [undefined] : text.split(',').map((tag) => TAG.exec(tag.trim())?.[1])
  if (tags.every((tag) => tag !== undefined)) return tags
  throw fault('parameter_invalid_format', name, `The header \`${name}\` must be \`*\` or the \`ETag\` of a reply, with its quotes.`)
}

/**
 * Compares the conditions with the object as it is; `state` is undefined when there is none. Returns the error to throw after the handler,
 * which may first throw its own for an object that is missing. Throws 412.
 */
export function checkConditions(
  { ifMatch, ifNoneMatch }: Conditions,
  versioned: Versioned,
  state: object | undefined,
): ApiError | undefined {
  const tag = state && tagOf(contentIn(versioned, state as never))
  if (tag === undefined) return ifMatch && refused('If-Match', NO_OBJECT)
  if (ifNoneMatch === '*' || ifNoneMatch?.includes(tag)) throw refused('If-None-Match', `The object already exists. ${READ_AGAIN}`, tag)
  if (ifMatch && ifMatch !== '*' && !ifMatch.includes(tag))
    throw refused('If-Match', `The object has changed since you read it. ${READ_AGAIN}`, tag)
  return undefined
}

const NO_OBJECT = 'The object does not exist, or has been deleted. To create it, repeat the request without `If-Match`.'
const READ_AGAIN = 'Read it again, and repeat your change.'

const refused = (param: string, problem: string, tag?: string) =>
  new ApiError('validation_failed', `Nothing was saved. ${problem}`, {
    status: 412,
    reason: 'changed',
    param,
    headers: tag === undefined ? {} : { etag: quoted(tag) },
  })
