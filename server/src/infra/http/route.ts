/**
 * An endpoint is declared as a value of the type in this file. `server.ts` turns a list of them into a server, `openapi.ts` into
 * the API description, and the house tests try every route with every kind of key.
 */
import { type Static, type TSchema, Type } from 'typebox'
import type { ErrorCode } from '../../lib/errors.ts'
import type { KeyId, MemberId, OrganisationId, ProjectId, SessionId, UserId } from '../../lib/ids.ts'
import type { OrganisationRole, Role } from '../../lib/roles.ts'
import type { Written } from '../../lib/written.ts'
import type { Config } from '../runtime/config.ts'
import type { Actor, Caller, CallerCtx, Ctx, InTx, MemberCtx, OrganisationCtx, ProjectCtx, ProjectDefaults } from '../runtime/ctx.ts'
import type { ReplyRecord } from '../runtime/reply-record.ts'
import type { Listing, PageRequest } from './paging.ts'
import type { Versioned } from './versions.ts'

/**
 * Who may call a route. There is no default: a route without `access` does not compile.
 * `secret` and `organisation` are the lowest role that may. `publishable` says whether a user token is required (`user`) or
 * optional (`anonymous`). `ownKey` lets a key of any role read itself. `smtpproxy` lets keys with that role call the route too.
 * Routes of the console: `member` is the lowest role in the organisation of a member who is signed in; `open` says what protects a route
 * that needs no session.
 */
export type Access =
  | { secret: Role; publishable?: 'user' | 'anonymous'; ownKey?: true; smtpproxy?: true }
  | { publishable: 'user' }
  | { organisation: OrganisationRole }
  | { secret: Role; organisation: OrganisationRole }
  | ConsoleAccess

export type ConsoleAccess = { member: OrganisationRole } | { open: string }

/** The key of an Authorization header, or that of a member who is signed in to the console. */
export type Credential = { actor: Actor } & (
  | {
      kind: 'secret' | 'publishable'
      keyId: KeyId
      /** The origins that may use a publishable key; all of them if there are none. */
      allowedOrigins: string[]
      role: Role
      projectId: ProjectId
      organisationId: OrganisationId
      project: ProjectDefaults
      apiVersion: string
    }
  | { kind: 'organisation'; keyId: KeyId; role: OrganisationRole; organisationId: OrganisationId; apiVersion: string }
)

/** A member who is signed in to the console. */
export type MemberSession = {
  sessionId: SessionId
  memberId: MemberId
  name: string
  organisationId: OrganisationId
  role: OrganisationRole
  /** A new token, which replaces the one of the request. */
  renewed?: SessionToken
}

/** The value of the session cookie, and when it ends for good. */
export type SessionToken = { token: string; expiresAt: Date }

/** Passed in by `app.ts`, because infra must not import the keys module. Both functions throw a 401 `ApiError`. */
export type Authenticator = {
  /** Looks up a key. */
  authenticate(ctx: Ctx, key: string): Promise<Credential>
  /** Returns the signed-in user, in the project of the credential. */
  userOf(ctx: Ctx, credential: Credential & { projectId: ProjectId }, token: string): Promise<UserId>
  /** Looks up the session of a member. */
  sessionOf(ctx: Ctx, token: string): Promise<MemberSession>
  /** Looks up a session without using it: it is neither renewed nor kept from ending. */
  peekSession(ctx: Ctx, token: string): Promise<MemberSession>
  /** What the member may do in a project, or without one in the organisation. Throws 403 without a role there. */
  memberCredential(ctx: Ctx, session: MemberSession, projectId: ProjectId | null): Promise<Credential>
}

/** Passed in by `app.ts`, because infra must not import the audit module. Records a write in its transaction. */
export type RecordWrite = (ctx: InTx<Ctx>, write: RecordedWrite) => Promise<void>

/** What was done to an object, with its state before and after. */
export type RecordedWrite = {
  /** Null for an object of the organisation. */
  projectId: ProjectId | null
  action: string
  object: { type: string; id: string | null }
  before: Record<string, unknown> | undefined
  after: Record<string, unknown> | undefined
  details?: Record<string, unknown>
}

type CtxOf<A extends Access> = A extends { open: string }
  ? Ctx
  : A extends { member: OrganisationRole }
    ? MemberCtx
    : A extends { secret: Role; organisation: OrganisationRole }
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

/** What a route that writes tells the audit log: what it changes, or why that is not recorded. */
export type Audit = AuditedWrite | { none: string }

/** A write that is recorded in its transaction. Made by `audits` of `audited.ts`. */
export type AuditedWrite = {
  /** The kind of object, in the words of the API. */
  object: string
  /** What was done to it, such as `updated`. */
  action: string
  /** What finds the object. Undefined before it was created. */
  keyOf(input: AuditedInput, reply?: unknown): unknown
  /** The id of the object in the audit log. */
  idOf(key: never): string | null
  /** The state of the object as the API shows it; without it, `details` are recorded. Throws 404 when it does not exist. */
  read?(ctx: never, key: never): Promise<object>
  /** Members that change by themselves, such as counts. */
  ignored: readonly string[]
  /** Recorded for an action that changes no members of the object. */
  details?(input: AuditedInput, reply: unknown): object
  /** Whether it is recorded when nothing changed, because what it does is not in the state. */
  always: boolean
}

/** The parts of a request that the audit log needs. */
export type AuditedInput = { params: Record<string, unknown>; query: unknown; body: unknown }

/** A path parameter, with the function that reads it. */
export type PathParam<T> = { read(text: string, name: string): T; schema: TSchema }

type ParamsOf<P> = { [K in keyof P]: P[K] extends PathParam<infer T> ? T : never }

/** A body in chunks, decompressed, up to its limit. It can be read once. */
export type BodyStream = AsyncIterable<Buffer>

/** What a module stored of a streamed body. Disposing it removes what was not used. */
export type Received = AsyncDisposable

/** A streamed body, which is never in memory as a whole. The module stores it outside any transaction; then `run` is called. */
export type StreamDef<C, P, Q, U> = {
  type: MediaType
  /** The charsets that its media type may name, all of which `receive` can read. */
  charsets: RegExp
  /** The setting that limits its size, after decompression. */
  bytesMax: (config: Config) => number
  /** Stores the body; `run` gets the result. Parameters are checked before, and the Idempotency-Key after. */
  receive: (ctx: C, input: { params: ParamsOf<P>; query: Q; stream: BodyStream; charset: string | undefined }) => Promise<U>
}

export type MediaType = 'text/csv'

/** A reply that is a file, sent while it is read. The status is sent once the first part was read. */
export type Download = { filename: string; parts: AsyncIterable<string> }

/** The schema of a download. */
export const DownloadOf = (contentMediaType: MediaType | 'text/dns', description: string) =>
  Type.Unsafe<Download>({ type: 'string', contentMediaType, description })

/** The schema of a download that is JSON, which its schema describes. */
export const JsonDownloadOf = (schema: TSchema) => Type.Unsafe<Download>({ ...schema, contentMediaType: 'application/json' })

/** An event of a live reply, or a heartbeat, which shows that the connection works. Clients resume after the last `id`. */
export type LiveEvent = { event: string; id: number; data: unknown } | 'heartbeat'

/** A live reply: Server-Sent Events. It ends when there are no more. */
export type Live = { events: AsyncIterable<LiveEvent> }

/** The schema of a live reply. */
export const LiveOf = (description: string) => Type.Unsafe<Live>({ type: 'string', contentMediaType: 'text/event-stream', description })

/** What a live reply can use. */
export type LiveCall = {
  /** Aborts when the client disconnects or the server shuts down. The events must end then. */
  signal: AbortSignal
  /** The header `Last-Event-ID`. */
  lastEventId: string | undefined
  /** Checks the credentials again and returns the user. Throws 401 if the token has expired, or if its user or either key is gone. */
  again(): Promise<UserId>
  /** Checks that the key or the session still permits the route, for routes without users. Throws 401 and 403. */
  requireStill(): Promise<void>
}

/** The browser of a request to the console. */
export type Browser = {
  address: string
  userAgent: string
  /** Sets the session cookie. */
  setSession(token: SessionToken): void
  /** Deletes the session cookie. */
  clearSession(): void
}

type BrowserInput<A extends Access> = A extends ConsoleAccess ? { browser: Browser } : unknown

type LiveInput<R extends TSchema> = Static<R> extends Live ? { live: LiveCall } : unknown

export type Input<P, Q, B, U = undefined, W = undefined> = {
  params: ParamsOf<P>
  query: Q
  body: B
  page: PageRequest
  /** The bytes of the body, decompressed, for modules that store it unchanged. */
  raw: Buffer
  /** What `receive` returned for a streamed body. */
  received: U
  /** What `prepare` returned. */
  prepared: W
  requestId: string
  /** Of a request with an `Idempotency-Key`, on routes that store it `with_append`. */
  record: ReplyRecord | undefined
}

type InputOf<A extends Access, P, Q extends TSchema, B extends TSchema, R extends TSchema, U, W> = Input<P, Static<Q>, Static<B>, U, W> &
  LiveInput<R> &
  BrowserInput<A>

export type RouteDef<A extends Access, P, Q extends TSchema, B extends TSchema, R extends TSchema, U = undefined, W = undefined> = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: `/api/client/${string}` | `/api/ext/generic/${string}` | `/api/console/${string}`
  /** A sentence for the API reference. It starts with a verb in the imperative. */
  summary: string
  /** More, in Markdown. */
  description?: string
  access: A
  /** False where a request is no use of the session of a member: the session is neither renewed nor kept from ending. */
  isUse?: false
  /** Path parameters by name. */
  params?: P
  /** Query parameters, without those of paging. */
  query?: Q
  /** Makes it a list endpoint: reads the paging parameters and sets `page`. */
  list?: Listing
  /** The JSON body. The items of an array with `itemwise: true` are checked by the module. Without a schema, no body is accepted. */
  body?: B
  /** A JSON body may have so many bytes, if that is more than the setting for all routes. */
  bodyBytesMax?: number
  /** The form body, for the utilities. */
  form?: B
  /** A body of any size. */
  stream?: StreamDef<CtxOf<A>, P, Static<Q>, U>
  reply?: R
  /** 200 by default; 204 needs no `reply`. */
  status?: 200 | 201 | 202 | 204
  /** The path of the created resource. */
  location?: (reply: Static<R>) => string
  /** The reply contains a secret, so it is encrypted in the idempotency record. */
  sensitive?: true
  /**
   * How the record of an `Idempotency-Key` is stored. By default, in the transaction of the effects. `with_append`: by the append to the
   * queue, which is the only effect; the reply is 204. `around_call`: before and after, for operations that wait for other servers.
   */
  records?: 'with_append' | 'around_call'
  /** Of routes that write: what the audit log records, or why it records nothing (`house/audit.test.ts`). */
  audit?: Audit
  /** Replies have an `ETag`; writes may have `If-Match`, which needs `audit`. */
  versioned?: Versioned
  /** Computes what `run` needs before the transaction, so that no connection waits for it. What it throws is thrown where `run` begins. */
  prepare?: (ctx: CtxOf<A>, input: Pick<Input<P, Static<Q>, Static<B>>, 'params' | 'query' | 'body'>) => Promise<W>
  /** Texts for people in its replies are in the language that `Accept-Language` prefers: `ctx.language`. */
  translated?: true
  /** Served while the server is overloaded too. */
  essential?: true
  /** Codes of errors that the shape of the route does not show, for the API reference. */
  errors?: readonly ErrorCode[]
  /** The rate limit of requests that leave the server, instead of the one for reads, writes or utilities. */
  bucket?: 'egress'
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that replies with 204 returns nothing.
  run: (ctx: CtxOf<A>, input: InputOf<A, P, Q, B, R, U, W>) => Promise<Static<R> | Written<Static<R>> | undefined | void>
  /** Completes the reply once the effects have committed or, with an `Idempotency-Key`, right before that. */
  committed?: (ctx: CtxOf<A>, reply: Static<R>) => Promise<Static<R>>
}

/** A route without its type parameters, for the server. */
export type Route = Omit<
  RouteDef<Access, Record<string, PathParam<unknown>>, TSchema, TSchema, TSchema>,
  'run' | 'prepare' | 'location' | 'stream' | 'committed'
> & {
  run: (ctx: never, input: never) => Promise<unknown>
  prepare?: (ctx: never, input: never) => Promise<unknown>
  stream?: StreamDef<never, never, never, Received>
  location?: (reply: never) => string
  committed?: (ctx: never, reply: never) => Promise<unknown>
}

/** Declares an endpoint. */
export const route = <
  const A extends Access,
  P extends Record<string, PathParam<unknown>> = Record<never, never>,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  R extends TSchema = TSchema,
  U extends Received | undefined = undefined,
  W = undefined,
>(
  def: RouteDef<A, P, Q, B, R, U, W>,
): Route => def as unknown as Route
