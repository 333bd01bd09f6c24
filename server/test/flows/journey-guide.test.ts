/** The journeys of the guide, with its requests in its order. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Reply, type World, world } from '../world.ts'

const GUIDE = readFileSync(new URL('../../../docs/guide/journeys.md', import.meta.url), 'utf8')

type Call = { method: string; path: string; body: unknown }

/** The requests of a section of the guide. */
function callsOf(section: string): Call[] {
  const [, text = ''] = GUIDE.split(`\n## ${section}\n`)
  const [own = ''] = text.split('\n## ')
  const code = [...own.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block).join('')
  return [...code.matchAll(/^api (\S+)((?: -X [A-Z]+)?)(?: -d '([^']*)')?$/gm)].map(([, path = '', option = '', data]) => ({
    method: option === '' ? (data === undefined ? 'GET' : 'POST') : option.slice(' -X '.length),
    path,
    body: data === undefined ? undefined : JSON.parse(data),
  }))
}

/** The guide counts what it creates from 1; the database of the tests has more in it. */
function runner(w: World) {
  const ids = new Map<string, number[]>()
  const real = (kind: string, id: number) => ids.get(kind)?.[id - 1] ?? id
  const named = (text: string) =>
    text.replace(/"(campaign|subscription|list|journey)_id": ?(\d+)/g, (_, kind, id) => `"${kind}_id": ${real(`${kind}s`, Number(id))}`)
  const entered = (text: string) => text.replace(/"list_entered": ?(\d+)/g, (_, id) => `"list_entered": ${real('lists', Number(id))}`)
  return async ({ method, path, body }: Call): Promise<Reply> => {
    const parts = path.split('/')
    const at = parts.map((part, index) => (/^\d+$/.test(part) ? String(real(parts[index - 1] as string, Number(part))) : part)).join('/')
    const text = body === undefined ? undefined : entered(named(JSON.stringify(body)))
    const reply = await w.request(method, `/api/client/${at}`, undefined, { ...(text !== undefined && { raw: text }), headers: JSON_TYPE })
    expect(reply.status, `${method} ${path}: ${reply.text}`).toBeLessThan(300)
    const kind = parts.at(-1) as string
    const created = kind === 'backtest' ? 'backtests' : kind
    if (method === 'POST' && typeof reply.body?.id === 'number') ids.set(created, [...(ids.get(created) ?? []), reply.body.id])
    await w.drain()
    return reply
  }
}

const JSON_TYPE = { 'content-type': 'application/json' }

type Simulated = { visits: { step: string }[]; messages: { at: string; rendered: { subject: string } }[] }
const stepsOf = ({ visits }: Simulated) => visits.map(({ step }) => step)

test('the welcome series, the abandoned cart, the renewal and the backtest do what the guide says', async () => {
  await using w = await world()
  const run = runner(w)
  const replies = async (section: string) => {
    const done: Reply[] = []
    for (const call of callsOf(section)) done.push(await run(call))
    return done
  }
  const welcome = await replies('Welcome series')
  const simulated = welcome.find(({ body }) => body?.messages)?.body as Simulated
  expect(stepsOf(simulated)).toEqual(['start', 'hello', 'wait', 'begin', 'end'])
  expect(simulated.messages.map(({ at, rendered }) => [at, rendered.subject])).toEqual([
    ['2026-11-23T09:00:00.000Z', 'Welcome, Ana'],
    ['2026-11-25T09:00:00.000Z', 'How to begin'],
  ])
  expect(welcome.at(-1)?.body.entrances[0].visits.at(-1)).toMatchObject({ step: 'wait', left_at: null })
  w.advance('2 days')
  await w.drain()
  const subjects = async () => (await w.get('/api/client/sandbox/messages')).body.results.map(({ summary }: { summary: string }) => summary)
  expect((await subjects()).sort()).toEqual(['How to begin', 'Welcome, Ana'])

  const cart = (await replies('Abandoned cart')).at(-1)?.body
  expect(cart).toMatchObject({ entered: 2, completed: 1, active: 1 })
  w.advance('1 hour')
  await w.drain()
  expect(await subjects()).toContain('Your cart c-2')
  expect(await subjects()).not.toContain('Your cart c-1')

  const renewal = (await replies('Renewal with a payment')).at(-1)?.body as Simulated
  expect(stepsOf(renewal)).toEqual(['start', 'week', 'remind', 'day', 'charge', 'check', 'renewed', 'end'])
  expect(renewal.messages).toMatchObject([{ rendered: { subject: 'Your renewal' } }])

  const tested = (await replies('Try it on the past')).at(-1)?.body
  expect(tested).toMatchObject({ state: 'finished', result: { entrants: 2, completed: 2, difference: {} } })
}, 60_000)
