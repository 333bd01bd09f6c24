/** Callers that keep a list of what they sent and of what they were promised. */
import { randomUUID } from 'node:crypto'
import { request } from 'undici'
import { expect, vi } from 'vitest'
import { rowsOf } from '../child-server.ts'

/** Something that was sent, known by its own id: an event, a user saved at once, a user queued. */
type Sent = { kind: 'event' | 'batch' | 'queued'; id: string }
type Request = { method: 'POST' | 'PATCH'; path: string; items: object[]; sent: Sent[]; idempotencyKey?: string }

export type RequestLog = {
  /** What was answered with success: it must be there. */
  acknowledged: Sent[]
  /** What was sent and not answered, or only that the database is away: it may be there, once. */
  unanswered: Request[]
  /** What was answered with anything but success. */
  refused: string[]
}

export const createRequestLog = (): RequestLog => ({ acknowledged: [], unanswered: [], refused: [] })

/** A request of one to four items with ids of their own. Events speak of twenty people, so that batches meet. */
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

/** Sends one request and writes down how it went. False when there was no answer. */
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
  /** Resolves when so many more items are acknowledged than when it was asked. */
  acknowledged(count: number): Promise<void>
  /** Resolves when every caller has had its last answer, or none. */
  stop(): Promise<void>
}

/** Callers that send one request after the other to the servers in turn, each until its connection breaks. */
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

/** For what comes when it comes: long enough for any machine. */
export const WAIT = { timeout: 60_000, interval: 100 }

/** Waits until everything accepted is applied. */
export const allApplied = (databaseUrl: string): Promise<void> =>
  vi.waitFor(async () => {
    const [row] = await rowsOf<{ waiting: number }>(databaseUrl, 'select count(*)::int as waiting from queue_entries')
    expect(row?.waiting).toBe(0)
  }, WAIT)

/** Everything acknowledged is there exactly once, everything unanswered at most once, and nothing was put aside. */
export async function expectKept({ acknowledged, unanswered, refused }: RequestLog, databaseUrl: string, about: string): Promise<void> {
  const counted = (rows: { id: string; count: number }[]) => new Map(rows.map(({ id, count }) => [id, count]))
  const events = counted(
    await rowsOf(databaseUrl, `select data->>'id' as id, count(*)::int as count from events where name = 'counted' group by 1`),
  )
  const users = counted(
    await rowsOf(databaseUrl, `select external_id as id, count(*)::int as count from users where data->>'id' = external_id group by 1`),
  )
  const times = ({ kind, id }: Sent) => (kind === 'event' ? events : users).get(id) ?? 0
  expect(refused, about).toEqual([])
  expect(
    acknowledged.filter((sent) => times(sent) !== 1).map((sent) => ({ ...sent, times: times(sent) })),
    `acknowledged but not there exactly once; ${about}`,
  ).toEqual([])
  expect(
    unanswered.flatMap(({ sent }) => sent).filter((sent) => times(sent) > 1),
    `unanswered and there more than once; ${about}`,
  ).toEqual([])
  const known = new Set([...acknowledged, ...unanswered.flatMap(({ sent }) => sent)].map(({ id }) => id))
  expect(
    [...events.keys(), ...users.keys()].filter((id) => !known.has(id)),
    `there although nobody sent it; ${about}`,
  ).toEqual([])
  expect(await rowsOf(databaseUrl, 'select kind, reason, item from parked_items'), about).toEqual([])
}
