/** Reads request bodies: limits on size, decompression, media types, JSON and forms (D-HTTP-3). */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { ApiError, fault } from '../../lib/errors.ts'
import type { Ctx } from '../runtime/ctx.ts'
import type { Route } from './route.ts'

const JSON_DEPTH_MAX = 32

const decoders = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress }

/** Whether the bodies of requests to a route are read. A body that the route does not take is read too, and must be valid. */
export const readsBody = ({ method, body }: Pick<Route, 'method' | 'body'>) =>
  method !== 'GET' && (method !== 'DELETE' || body !== undefined)

/** Reads the whole body, decompressed. Throws 413 once there are more than `limit` bytes, and 408 if they take too long. */
export async function readBody({ clock, config }: Ctx, request: IncomingMessage, limit: number): Promise<Buffer> {
  // A short body comes with its head. It is complete as soon as the event loop has read what is there.
  if (!request.complete) await setImmediate()
  const whole = request.complete ? completeOf(request, limit) : undefined
  if (whole) return whole
  if (request.complete) return wholeOf(request, limit)
  const read = new AbortController()
  const late = clock.sleep(config.BODY_TIMEOUT_S * 1000, read.signal).then((): Buffer => {
    if (read.signal.aborted) return NOTHING
    throw tooSlow(config.BODY_TIMEOUT_S)
  })
  return Promise.race([wholeOf(request, limit), late]).finally(() => read.abort(READ))
}

/** A body that was received and needs no decompression, without the cost of reading a stream. Throws 413. */
function completeOf(request: IncomingMessage, limit: number): Buffer | undefined {
  if (request.headers['content-encoding'] !== undefined || request.errored) return undefined
  const body: Buffer = request.read() ?? NOTHING
  if (body.length > limit) throw tooLarge(limit)
  return body
}

const NOTHING = Buffer.alloc(0)
/** Given as the reason: without one, each request makes an error with its stack. */
const READ = 'read'

async function wholeOf(request: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of bytesOf(request, limit)) chunks.push(chunk)
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
}

/** Reads the body in chunks, decompressed. Throws 413 once there are more than `limit` bytes. */
export async function* bytesOf(request: IncomingMessage, limit: number): AsyncGenerator<Buffer, void, undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limit && request.headers['content-encoding'] === undefined) throw tooLarge(limit)
  let size = 0
  try {
    for await (const chunk of decoded(request)) {
      size += (chunk as Buffer).length
      if (size > limit) throw tooLarge(limit)
      yield chunk as Buffer
    }
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw fault('parameter_invalid_format', 'body', 'The body could not be decompressed with the given Content-Encoding.')
  }
}

function decoded(request: IncomingMessage): AsyncIterable<unknown> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase()
  if (encoding === undefined || encoding === '' || encoding === 'identity') return request
  if (!Object.hasOwn(decoders, encoding)) {
    throw new ApiError('parameter_invalid_format', 'Send the body as gzip, deflate or br, or without a Content-Encoding.', {
      status: 415,
      param: 'Content-Encoding',
      reason: 'media_type',
    })
  }
  // On an error, the pipeline destroys both streams, and reading the decoder throws the error.
  const decoder = decoders[encoding as keyof typeof decoders]()
  return pipeline(request, decoder, () => undefined)
}

const tooSlow = (seconds: number) =>
  new ApiError('validation_failed', `The body must arrive within ${seconds} seconds.`, {
    status: 408,
    param: 'body',
    reason: 'body_too_slow',
    headers: { connection: 'close' },
  })

const tooLarge = (limit: number) =>
  new ApiError('validation_failed', `The body may have at most ${limit} bytes.`, {
    status: 413,
    param: 'body',
    reason: 'body_too_large',
    headers: { connection: 'close' },
  })

const JSON_TYPE = /^application\/(?:[\w.!#$&^-]+\+)?json$/i
const FORM_TYPE = /^application\/x-www-form-urlencoded$/i

const MEDIA_TYPES = {
  json: { pattern: JSON_TYPE, name: 'application/json' },
  form: { pattern: FORM_TYPE, name: 'application/x-www-form-urlencoded' },
  'text/csv': { pattern: /^text\/csv$/i, name: 'text/csv' },
}

const UTF_8 = /^utf-?8$/i

/** Throws 415 for another media type or charset; returns the charset. Without a header, the type of the route is assumed. */
export function checkMediaType(
  header: string | undefined,
  takes: keyof typeof MEDIA_TYPES,
  method: string,
  charsets = UTF_8,
): string | undefined {
  if (header === undefined || header.trim() === '') return undefined
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim())
  const charset = parameters.map((part) => /^charset="?([^"]*)"?$/i.exec(part)?.[1]).find(Boolean)
  const { pattern, name: accepted } = MEDIA_TYPES[takes]
  if (pattern.test(type) && (charset === undefined || charsets.test(charset))) return charset
  throw new ApiError('parameter_invalid_format', `Send the body as \`${accepted}\` in UTF-8.`, {
    status: 415,
    param: 'Content-Type',
    reason: 'media_type',
    headers: { [`accept-${method === 'PATCH' ? 'patch' : 'post'}`]: accepted },
  })
}

/** Parses a form. Throws 400 if it is not UTF-8, or its percent-encoding is malformed. */
export function parseForm(bytes: Buffer): Record<string, string> {
  if (!isUtf8(bytes)) throw malformed('is not valid UTF-8')
  return toRecord(parsePairs(bytes.toString('utf8')))
}

/** Parses a JSON body. Throws 400 with line and column; the message never contains the body. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw malformed('is not valid UTF-8')
  const text = withoutBom(bytes.toString('utf8'))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw malformed(`is not valid JSON${positionOf(error as Error, text)}`)
  }
  return inspected(value, text)
}

const malformed = (what: string) => fault('parameter_invalid_format', 'body', `The body ${what}.`)

const withoutBom = (text: string) => (text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)

function positionOf(error: Error, text: string): string {
  const position = /position (\d+)/.exec(error.message)?.[1]
  const before = text.slice(0, position === undefined ? text.length : Number(position))
  const line = before.split('\n').length
  return ` (line ${line}, column ${before.length - before.lastIndexOf('\n')})`
}

/** Refuses values that cannot be stored, and replaces lone surrogates. */
function inspected(value: unknown, text: string): unknown {
  // Only an escape can contain a NUL or a lone surrogate. Most bodies have neither and need not be copied.
  const suspicious = /\\u(?:0000|[dD][89a-fA-F])/.test(text)
  return inspect(value, JSON_DEPTH_MAX, suspicious)
}

function inspect(value: unknown, levels: number, suspicious: boolean): unknown {
  if (typeof value === 'string') return suspicious ? cleaned(value) : value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw malformed('contains a number that is too large')
    return value
  }
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) throw malformed(`is nested more than ${JSON_DEPTH_MAX} levels deep`)
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = inspect(value[i], levels - 1, suspicious)
    return value
  }
  return inspectObject(value as Record<string, unknown>, levels, suspicious)
}

function inspectObject(value: Record<string, unknown>, levels: number, suspicious: boolean): unknown {
  if (!suspicious) {
    for (const key in value) inspect(value[key], levels - 1, false)
    return value
  }
  // A member can be called `__proto__`. Assigning it would set the prototype.
  const copy = {}
  for (const [key, inner] of Object.entries(value)) {
    Object.defineProperty(copy, cleaned(key), {
      value: inspect(inner, levels - 1, true),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return copy
}

function cleaned(text: string): string {
  if (text.includes('\0')) throw malformed('contains a string with the character U+0000, which cannot be stored')
  return text.toWellFormed()
}

/** Parses `a=1&b=2` (a query string or a form) into pairs. Throws 400 if the percent-encoding is malformed. */
export function parsePairs(text: string): [string, string][] {
  if (text === '') return []
  return text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=')
      return at === -1 ? [unescapePart(pair), ''] : [unescapePart(pair.slice(0, at)), unescapePart(pair.slice(at + 1))]
    })
}

function unescapePart(part: string): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(part.replaceAll('+', ' '))
  } catch {
    throw new ApiError('parameter_invalid_format', 'The percent-encoding of a parameter is malformed.')
  }
  if (decoded.includes('\0'))
    throw new ApiError('parameter_invalid_format', 'A parameter contains the character U+0000, which cannot be stored.')
  return decoded
}

/** Turns pairs into an object. Throws 400 if a name occurs twice. */
export function toRecord(pairs: [string, string][]): Record<string, string> {
  const record: Record<string, string> = Object.create(null)
  for (const [name, value] of pairs) {
    if (name in record)
      throw fault('parameter_invalid_format', name.slice(0, 255), `The parameter \`${name.slice(0, 255)}\` may be given only once.`)
    record[name] = value
  }
  return record
}
