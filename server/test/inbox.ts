/** Inboxes of a world over real sockets: calls, streams, and a second process on the same database. */
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { expect, vi } from 'vitest'
import { authenticator } from '../src/authenticator.ts'
import type { Route } from '../src/infra/http/route.ts'
import { createHttpServer } from '../src/infra/http/server.ts'
import { type Database, openDatabase } from '../src/infra/postgres/db.ts'
import { type Ctx, inTx } from '../src/infra/runtime/ctx.ts'
import type { CampaignId, MessageId, UserId } from '../src/lib/ids.ts'
import { matches } from '../src/lib/validate.ts'
import { recordWrite } from '../src/modules/audit/index.ts'
import {
  createInboxStreams,
  deliverToInbox,
  type InboxEngagement,
  type InboxStreams,
  inboxRoutes,
  readAll,
  updateReadState,
} from '../src/modules/inbox/index.ts'
import { SOON } from './wait.ts'
import type { World } from './world.ts'

export type Answer = { status: number; body: any; headers: Headers }
export type StreamEvent = { id: number; event: string; data: any }

/** A stream as its client sees it. */
export type Stream = AsyncDisposable & {
  status: number
  headers: Headers
  /** The events received so far. */
  events: StreamEvent[]
  heartbeats(): number
  isOver(): boolean
  /** Waits for a condition while the clock of the world advances, or with `still` while it stands. */
  until(condition: (events: StreamEvent[]) => boolean, still?: 'still'): Promise<void>
  close(): Promise<void>
}

/** A process that serves inboxes. */
export type InboxProcess = {
  app: FastifyInstance
  db: Database
  streams: InboxStreams
  seen: InboxEngagement[]
  call(method: string, path: string, options?: CallOptions & { body?: unknown }): Promise<Answer>
  listen(options: CallOptions & { path?: string }): Promise<Stream>
}

export type CallOptions = { token?: string; key?: string; headers?: Record<string, string> }

export const OWN = '/api/client/users/me/messages'

type OnEngagement = (engagement: InboxEngagement[]) => void

/** Starts a process on the database of a world; it ends with `closing`. */
export async function startInbox(w: World, closing: AsyncDisposableStack, onEngagement?: OnEngagement): Promise<InboxProcess> {
  const db = closing.use(openDatabase({ url: w.databaseUrl, connectionsMax: 4, name: 'inbox', checkRows: true }))
  const ctx: Ctx = { ...w.ctx, db }
  const streams = createInboxStreams()
  const seen: InboxEngagement[] = []
  const record = onEngagement ?? ((engagement) => seen.push(...engagement))
  const routes = inboxRoutes(streams, {
    updateReadState: (ctx, ...rest) =>
      inTx(ctx, async (ctx) => {
        const { message, engagement } = await updateReadState(ctx, ...rest)
        record(engagement)
        return message
      }),
    readAll: (ctx, userId) =>
      inTx(ctx, async (ctx) => {
        const { result, engagement } = await readAll(ctx, userId)
        record(engagement)
        return result
      }),
  })
  const app = createHttpServer({
    ctx,
    routes,
    pages: [],
    authenticator,
    recordWrite,
    baseUrl: ctx.baseUrl,
    lag: () => 0,
    onReply: checkReply,
  })
  closing.defer(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const headersOf = ({ token, key = w.keys.public, headers }: CallOptions) => ({
    authorization: `Bearer ${key}`,
    ...(token !== undefined && { 'x-service-user-token': token }),
    ...headers,
  })
  return {
    app,
    db,
    streams,
    seen,
    async call(method, path, { body, ...options } = {}) {
      const json = body === undefined ? {} : { body: JSON.stringify(body) }
      const headers = { ...headersOf(options), ...(body !== undefined && { 'content-type': 'application/json' }) }
      const reply = await fetch(url + path, { method, headers, ...json })
      const text = await reply.text()
      return { status: reply.status, body: text === '' ? undefined : JSON.parse(text), headers: reply.headers }
    },
    listen: ({ path = `${OWN}/stream`, ...options }) => openStream(w, url + path, headersOf(options)),
  }
}

function checkReply(route: Route, status: number, body: unknown): void {
  const problem = route.reply && status < 400 ? matches(route.reply)(body) : null
  if (problem) throw new Error(`${route.method} ${route.path} sent an undocumented reply: ${problem}`)
}

/** Opens a stream of server-sent events. */
export async function openStream(w: World, url: string, headers: Record<string, string>): Promise<Stream> {
  const leaving = new AbortController()
  const reply = await fetch(url, { headers, signal: leaving.signal })
  const events: StreamEvent[] = []
  let heartbeats = 0
  let over = false
  const reading = read()
  return {
    status: reply.status,
    headers: reply.headers,
    events,
    heartbeats: () => heartbeats,
    isOver: () => over,
    until: (condition, still) =>
      vi.waitFor(
        () => {
          if (!still) w.advance(250)
          expect(condition(events), JSON.stringify(events)).toBe(true)
        },
        { ...SOON, interval: 5 },
      ),
    close,
    [Symbol.asyncDispose]: close,
  }

  async function read(): Promise<void> {
    let text = ''
    try {
      for await (const chunk of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk
        const blocks = text.split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) {
          if (block.startsWith(':')) heartbeats++
          else events.push(toStreamEvent(block))
        }
      }
    } catch {
      // The connection was closed.
    }
    over = true
  }

  async function close(): Promise<void> {
    leaving.abort()
    await reading
  }
}

function toStreamEvent(block: string): StreamEvent {
  const [, id, event = '', data = ''] = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(block) ?? []
  return { id: Number(id), event, data: JSON.parse(data) }
}

const CAMPAIGN = 7 as CampaignId
let messages = 0

/** Puts a message with each of these contents into the inbox of a user. Returns their ids. */
export async function deliver(w: World, userId: UserId, ...contents: Record<string, unknown>[]): Promise<MessageId[]> {
  const messagesToDeliver = contents.map((content) => ({
    id: ++messages as MessageId,
    user_id: userId,
    campaign_id: CAMPAIGN,
    content: { type: 'inbox', title: 'Hello', body: 'World', ...content },
  }))
  await inTx(w.ctx, (ctx) => deliverToInbox(ctx, messagesToDeliver))
  return messagesToDeliver.map(({ id }) => id)
}

export const userId = async (w: World, name: string): Promise<UserId> => (await w.get(`/api/client/users/${name}`)).body.id
