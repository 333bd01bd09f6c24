/**
 * An endpoint is a value. This file says what one looks like; `http/` turns a list of them into a server,
 * `openapi.ts` into the API description, and the house tests into a walk through every route with every key.
 */
import { type Static, type TSchema, Type } from 'typebox'
import type { KeyId, OrganisationId, ProjectId, UserId } from '../../lib/ids.ts'
import type { OrganisationRole, Role } from '../../lib/roles.ts'
import type { Config } from '../runtime/config.ts'
import type { Caller, CallerCtx, Ctx, OrganisationCtx, ProjectCtx, ProjectDefaults } from '../runtime/ctx.ts'
import type { Listing, PageRequest } from './paging.ts'

/**
 * Who may call a route. There is no default: a route without it does not compile.
 * `secret` and `organisation` name the lowest role; `publishable` says whether a user token is needed (`user`)
 * or only narrows the call (`anonymous`); `ownKey` lets any role read the very key it calls with.
 */
export type Access =
  | { secret: Role; publishable?: 'user' | 'anonymous'; ownKey?: true }
  | { publishable: 'user' }
  | { organisation: OrganisationRole }
  | { secret: Role; organisation: OrganisationRole }

/** What `authenticate` found behind an Authorization header. */
export type Credential =
  | {
      kind: 'secret' | 'publishable'
      keyId: KeyId
      role: Role
      projectId: ProjectId
      organisationId: OrganisationId
      project: ProjectDefaults
      apiVersion: string
    }
  | { kind: 'organisation'; keyId: KeyId; role: OrganisationRole; organisationId: OrganisationId; apiVersion: string }

/** Handed in by `app.ts`, so that infra need not know the keys module. Both throw `ApiError` 401. */
export type Authenticator = {
  /** Who holds this key? */
  authenticate(ctx: Ctx, key: string): Promise<Credential>
  /** Which user does this token speak for, within the project of the credential? */
  userOf(ctx: Ctx, credential: Credential & { projectId: ProjectId }, token: string): Promise<UserId>
}

type CtxOf<A extends Access> = A extends { secret: Role; organisation: OrganisationRole }
  ? CallerCtx
  : A extends { organisation: OrganisationRole }
    ? OrganisationCtx
    : A extends { publishable: 'user'; secret: Role }
      ? ProjectCtx<Extract<Caller, { kind: 'secret' | 'user' }>>
      : A extends { publishable: 'user' }
        ? ProjectCtx<Extract<Caller, { kind: 'user' }>>
        : A extends { publishable: 'anonymous' }
          ? ProjectCtx<Extract<Caller, { kind: 'secret' | 'user' | 'anonymous' }>>
          : ProjectCtx<Extract<Caller, { kind: 'secret' }>>

/** A parameter in the path, with how it is read. */
export type PathParam<T> = { read(text: string, name: string): T; schema: TSchema }

type ParamsOf<P> = { [K in keyof P]: P[K] extends PathParam<infer T> ? T : never }

/** A body as it comes: decompressed, within its limit, to be read once. */
export type BodyStream = AsyncIterable<Buffer>

/** What a module made of a streamed body. Disposing it takes back what was not made use of. */
export type Received = AsyncDisposable

/** A streamed body, which is never held as a whole: it is kept first, outside of any transaction, and then decided about. */
export type StreamDef<C, P, Q, U> = {
  type: MediaType
  /** The setting that bounds it, after decompression. */
  bytesMax: (config: Config) => number
  /** Keeps the body; `run` gets the answer. Parameters are checked before; a repeat under the same Idempotency-Key is found after. */
  receive: (ctx: C, input: { params: ParamsOf<P>; query: Q; stream: BodyStream }) => Promise<U>
}

export type MediaType = 'text/csv'

/** A reply that is written as it is read: a file by this name. The first part is there before the status is sent. */
export type Download = { filename: string; parts: AsyncIterable<string> }

/** The schema of such a reply. */
export const DownloadOf = (contentMediaType: MediaType, description: string) =>
  Type.Unsafe<Download>({ type: 'string', contentMediaType, description })

/** Something that a live reply tells; who lost the connection goes on after the `id` of the last. A heartbeat says that it still stands. */
export type LiveEvent = { event: string; id: number; data: unknown } | 'heartbeat'

/** A reply that goes on, as Server-Sent Events. It ends when its events do. */
export type Live = { events: AsyncIterable<LiveEvent> }

/** The schema of such a reply. It is for routes that take user tokens only. */
export const LiveOf = (description: string) => Type.Unsafe<Live>({ type: 'string', contentMediaType: 'text/event-stream', description })

/** What the events of a live reply have to go by. */
export type LiveCall = {
  /** Aborts when nobody listens any more or the server drains; then the events end. */
  signal: AbortSignal
  /** The header `Last-Event-ID`. */
  lastEventId: string | undefined
  /** Whom the user token speaks for by now. Throws 401 once it has expired, or its key, the one it was made with or its user are gone. */
  again(): Promise<UserId>
}

type LiveInput<R extends TSchema> = Static<R> extends Live ? { live: LiveCall } : unknown

export type Input<P, Q, B, U = undefined> = {
  params: ParamsOf<P>
  query: Q
  body: B
  page: PageRequest
  /** The body as it came, decompressed: for those who store what was validated. */
  raw: Buffer
  /** What became of a streamed body. */
  received: U
  requestId: string
}

export type RouteDef<A extends Access, P, Q extends TSchema, B extends TSchema, R extends TSchema, U = undefined> = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: `/api/client/${string}` | `/api/ext/generic/${string}`
  /** One sentence for the API reference. */
  summary: string
  /** More, in Markdown. */
  description?: string
  access: A
  /** Path parameters by name. */
  params?: P
  /** Query parameters besides those of paging. */
  query?: Q
  /** Makes it a list endpoint: paging parameters are read and `page` is set. */
  list?: Listing
  /** The JSON body; an array with `itemwise: true` is checked up to its envelope only. Absent: no body is taken. */
  body?: B
  /** The form body, for the utilities. */
  form?: B
  /** The body of any size. */
  stream?: StreamDef<CtxOf<A>, P, Static<Q>, U>
  reply?: R
  /** 200 unless said otherwise; 204 goes with no `reply`. */
  status?: 200 | 201 | 202 | 204
  /** Where the created resource is. */
  location?: (reply: Static<R>) => string
  /** The reply holds a secret: it is sealed in the idempotency record. */
  sensitive?: true
  /** The bucket a call is counted in besides its credential's read or write. */
  bucket?: 'ext' | 'egress'
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that answers 204 returns nothing.
  run: (ctx: CtxOf<A>, input: Input<P, Static<Q>, Static<B>, U> & LiveInput<R>) => Promise<Static<R> | undefined | void>
}

/** A route with its types forgotten, as the adapter sees it. */
export type Route = Omit<RouteDef<Access, Record<string, PathParam<unknown>>, TSchema, TSchema, TSchema>, 'run' | 'location' | 'stream'> & {
  run: (ctx: never, input: never) => Promise<unknown>
  stream?: StreamDef<never, never, never, Received>
  location?: (reply: never) => string
}

/** Declares an endpoint. */
export const route = <
  const A extends Access,
  P extends Record<string, PathParam<unknown>> = Record<never, never>,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  R extends TSchema = TSchema,
  U extends Received | undefined = undefined,
>(
  def: RouteDef<A, P, Q, B, R, U>,
): Route => def as unknown as Route
