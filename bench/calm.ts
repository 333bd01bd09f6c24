/** How long `/livez` takes while templates and files cost as much as they can, four at a time. */
import { request } from 'undici'
import { EVIL_FILES, EVIL_TEMPLATES } from '../server/test/evil.ts'
import { type Call, caller, emailType, pause } from './sending.ts'
import { type BenchServer, load, report, startServer } from './support.ts'

const AT_ONCE = 4
const ROUNDS = 2
const IDLE_REQUESTS = 2000
/** `/livez` is asked this often, so that the load generator leaves the processors to the server. */
const EVERY_MS = 5
const TARGET_MS = 100

export async function calm(): Promise<void> {
  await using server = await startServer()
  const call = caller(server)
  const requests = await evilRequests(server, call)
  await requests[0]?.()
  const idle = await load(server.url, 1, IDLE_REQUESTS, () => ({ method: 'GET', path: '/livez', headers: {} }))
  const busy = await livezDuring(server, Array.from({ length: ROUNDS }, () => requests).flat())
  const { rows } = busy
  report(
    '/livez while evil templates run',
    busy.p99 / idle.p99,
    `p50 ${busy.p50.toFixed(1)} ms, p99 ${busy.p99.toFixed(1)} ms, longest ${busy.longest.toFixed(1)} ms of ${rows}; idle p50 ${idle.p50.toFixed(1)} ms, p99 ${idle.p99.toFixed(1)} ms; ${requests.length * ROUNDS} templates and files in ${busy.seconds.toFixed(1)} s`,
    `p99 ≤ ${TARGET_MS} ms`,
  )
  if (busy.p99 > TARGET_MS) process.exitCode = 1
}

async function evilRequests(server: BenchServer, call: Call): Promise<(() => Promise<unknown>)[]> {
  const list = await call('POST', '/api/client/lists', { name: 'Evil', type: 'static' })
  const campaign = await call('POST', '/api/client/campaigns', { type: 'trigger', name: 'Evil', subscription_id: await emailType(call) })
  const send = async (path: string, type: string, body: string) => {
    const headers = { authorization: `Bearer ${server.secretKey}`, 'content-type': type }
    const reply = await request(`${server.url}${path}`, { method: 'POST', headers, body })
    await reply.body.dump()
    if (reply.statusCode >= 500) throw new Error(`${path} replied with ${reply.statusCode}.`)
  }
  const preview = (template: object) =>
    send(`/api/client/campaigns/${campaign.id}/preview`, 'application/json', JSON.stringify({ template: { subject: 's', ...template } }))
  return [
    ...Object.values(EVIL_TEMPLATES).map((template) => () => preview(template)),
    ...Object.values(EVIL_FILES).map((file) => () => send(`/api/client/lists/${list.id}/import`, 'text/csv', file)),
  ]
}

/** Runs requests, some at a time, and asks `/livez` meanwhile. */
async function livezDuring({ url }: BenchServer, requests: (() => Promise<unknown>)[]) {
  const queue = requests.values()
  const started = performance.now()
  let isOver = false
  const evil = Array.from({ length: AT_ONCE }, async () => {
    for (const send of queue) await send()
  })
  const over = Promise.all(evil).finally(() => {
    isOver = true
  })
  const times: number[] = []
  while (!isOver) {
    const asked = performance.now()
    await (await request(`${url}/livez`)).body.dump()
    times.push(performance.now() - asked)
    await pause(EVERY_MS)
  }
  await over
  const seconds = (performance.now() - started) / 1000
  times.sort((a, b) => a - b)
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? Number.NaN
  return { rows: times.length, p50: at(0.5), p99: at(0.99), longest: at(1), seconds }
}
