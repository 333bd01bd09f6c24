/** Clients that send requests under load, and log which items were sent and acknowledged. */
import { randomUUID } from 'node:crypto'
import { request } from 'undici'
import { expect, vi } from 'vitest'
import { rowsOf } from '../statements.ts'

/** A sent item with its own id: an event, a user of a batch, or a queued user update. */
type Sent = { kind: 'event' | 'batch' | 'queued'; id: string }
type Request = { method: 'POST' | 'PATCH'; path: string; items: object[]; sent: Sent[]; idempotencyKey?: string }

export type RequestLog = {
  /** Items of successful requests. They must be stored once. */
  acknowledged: Sent[]
  /** Requests without a reply, or with 503. Their items may be stored, but only once. */
  unanswered: Request[]
  /** Replies with any other error. */
  refused: string[]
}

export const createRequestLog = (): RequestLog => ({ acknowledged: [], unanswered: [], refused: [] })

/** A request of one to four items with their own ids. Events are of twenty users, so that batches have users in common. */
function makeRequest(below: (end: number) => number): Request {
  const kind = (['event', 'event', 'batch', 'queued'] as const)[below(4)] ?? 'event'
  const sent = Array.from({ length: 1 + below(4) }, (): Sent => ({ kind, id: randomUUID() }))
  const user = () => `person-${below(20)}`
  const items = sent.map(({ id }) =>
    kind === 'event' ? { external_id: user(), name: 'counted', data: { id } } : { external_id: id, data: { id } },
  )
  const [method, path] = ({ event: ['POST', 'events'], batch: ['POST', 'users/batch'], queued: ['PATCH', 'users'] } as const)[kind]
  return { method, path, items, sent, ...(below(3) === 0 && { idempotencyKey: randomUUID() }) }
}

/** Sends a request and logs its result. Returns false if there was no reply. */
export async function send(
  requests: RequestLog,
  url: string,
  key: string,
  { method, path, items, sent, idempotencyKey }: Request,
): Promise<boolean> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
  }
  try {
    const { statusCode, body } = await request(`${url}/api/client/${path}`, { method, headers, body: JSON.stringify(items) })
    const text = await body.text()
    if (statusCode === 503) throw new Error(text)
    if (statusCode < 300) requests.acknowledged.push(...sent)
    else requests.refused.push(`${statusCode} ${text}`)
    return true
  } catch {
    requests.unanswered.push({ method, path, items, sent, ...(idempotencyKey && { idempotencyKey }) })
    return false
  }
}

export type Load = {
  /** Resolves when this many more items are acknowledged. */
  acknowledged(count: number): Promise<void>
  /** Stops the clients. Resolves when no request is in flight. */
  stop(): Promise<void>
}

/** Starts clients that each send one request after the other to the servers in turn. They stop using a server when a request gets no reply. */
export function startLoad(requests: RequestLog, urls: string[], key: string, callers: number, below: (end: number) => number): Load {
  let stopping = false
  const waiting: { at: number; wake: () => void }[] = []
  const caller = async (number: number) => {
    const left = [...urls]
    for (let request = number; !stopping && left.length > 0; request++) {
      const url = left[request % left.length] as string
      const answered = await send(requests, url, key, makeRequest(below))
      if (!answered) left.splice(left.indexOf(url), 1)
      for (const { at, wake } of waiting) if (requests.acknowledged.length >= at) wake()
    }
  }
  const running = Promise.all(Array.from({ length: callers }, (_, number) => caller(number)))
  return {
    acknowledged: (count) =>
      new Promise((wake) => {
        waiting.push({ at: requests.acknowledged.length + count, wake })
      }),
    stop: async () => {
      stopping = true
      await running
    },
  }
}

/** A timeout that is long enough for any machine. */
export const WAIT = { timeout: 60_000, interval: 100 }

/** Waits until the ingest queue is empty. */
export const allApplied = (databaseUrl: string): Promise<void> =>
  vi.waitFor(async () => {
    const [row] = await rowsOf<{ waiting: number }>(databaseUrl, 'select count(*)::int as waiting from queue_entries')
    expect(row?.waiting).toBe(0)
  }, WAIT)

/** Every acknowledged item is stored exactly once, every unanswered one at most once, and nothing is parked. */
export async function expectKept({ acknowledged, unanswered, refused }: RequestLog, databaseUrl: string, about: string): Promise<void> {
  const countById = (rows: { id: string; count: number }[]) => new Map(rows.map(({ id, count }) => [id, count]))
  const events = countById(
    await rowsOf(databaseUrl, `select data->>'id' as id, count(*)::int as count from events where name = 'counted' group by 1`),
  )
  const users = countById(
    await rowsOf(databaseUrl, `select external_id as id, count(*)::int as count from users where data->>'id' = external_id group by 1`),
  )
  const times = ({ kind, id }: Sent) => (kind === 'event' ? events : users).get(id) ?? 0
  expect(refused, about).toEqual([])
  expect(
    acknowledged.filter((sent) => times(sent) !== 1).map((sent) => ({ ...sent, times: times(sent) })),
    `acknowledged, but not stored exactly once; ${about}`,
  ).toEqual([])
  expect(
    unanswered.flatMap(({ sent }) => sent).filter((sent) => times(sent) > 1),
    `unanswered, and stored more than once; ${about}`,
  ).toEqual([])
  const known = new Set([...acknowledged, ...unanswered.flatMap(({ sent }) => sent)].map(({ id }) => id))
  expect(
    [...events.keys(), ...users.keys()].filter((id) => !known.has(id)),
    `stored, but never sent; ${about}`,
  ).toEqual([])
  expect(await rowsOf(databaseUrl, 'select kind, reason, item from parked_items'), about).toEqual([])
}
