/** The throughput with an `Idempotency-Key`, compared with the same requests without one, in alternating rounds of one run. */
import { type BenchServer, load, median, report, startServer } from './support.ts'

const CONNECTIONS = 16
const ROUNDS = 3

const cases = [
  {
    name: 'one event',
    method: 'POST',
    path: '/api/client/events',
    requests: 2000,
    bodyOf: (n: number) => [{ name: 'paid', external_id: `user-${n}` }],
  },
  { name: 'one user', method: 'POST', path: '/api/client/users/batch', requests: 600, bodyOf: (n: number) => [userOf(n)] },
  {
    name: '100 users',
    method: 'POST',
    path: '/api/client/users/batch',
    requests: 40,
    bodyOf: (n: number) => Array.from({ length: 100 }, (_, at) => userOf(n * 100 + at)),
  },
  {
    name: 'a change of a journey',
    method: 'PATCH',
    path: '/api/client/journeys/',
    requests: 600,
    bodyOf: (n: number) => ({ name: `Name ${n}` }),
  },
]

const userOf = (index: number) => ({ external_id: `customer-${index}`, email: `customer-${index}@example.com`, data: { visits: index } })

export async function idempotency(): Promise<void> {
  await using server = await startServer()
  const journey = await createJourney(server)
  for (const { name, method, path, requests, bodyOf } of cases) {
    let next = 0
    const rateOf = async (withKey: boolean) => {
      const first = next
      next += requests
      const { seconds, failures } = await load(server.url, CONNECTIONS, requests, (index) => ({
        method,
        path: path.endsWith('/') ? `${path}${journey}` : path,
        headers: { ...headersOf(server), ...(withKey && { 'idempotency-key': `${name} ${first + index}` }) },
        body: JSON.stringify(bodyOf(first + index)),
      }))
      if (failures > 0) throw new Error(`${failures} requests failed`)
      return requests / seconds
    }
    await rateOf(true)
    await rateOf(false)
    const rates: { bare: number; keyed: number }[] = []
    for (let round = 0; round < ROUNDS; round++) rates.push({ bare: await rateOf(false), keyed: await rateOf(true) })
    const middle = (of: (rate: { bare: number; keyed: number }) => number) => {
      const left = rates.map(of).values()
      return median(ROUNDS, async () => left.next().value as number)
    }
    const [ratio, bare, keyed] = [
      await middle(({ bare, keyed }) => keyed / bare),
      await middle((r) => r.bare),
      await middle((r) => r.keyed),
    ]
    report(`Idempotency-Key, ${name}`, ratio, `${Math.round(keyed)} requests/s with, ${Math.round(bare)} without`, '≥ 0.67')
  }
}

const headersOf = ({ secretKey }: BenchServer) => ({ authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' })

async function createJourney(server: BenchServer): Promise<number> {
  const reply = await fetch(`${server.url}/api/client/journeys`, {
    method: 'POST',
    headers: headersOf(server),
    body: JSON.stringify({ name: 'Measured' }),
  })
  return ((await reply.json()) as { id: number }).id
}
