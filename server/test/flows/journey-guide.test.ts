/** The journeys of the guide, with its requests in its order and a clock that moves. `guides.test.ts` runs the same commands in a shell. */
import { expect, test } from 'vitest'
import { blocksOf, readPage } from '../guides.ts'
import { type Reply, type World, world } from '../world.ts'

type Call = { variable: string | undefined; method: string; path: string; data: string | undefined }

const CALL =
  /^(?:(?<variable>[A-Z_]+)=\$\()?api (?<path>\S+)(?: -X (?<option>[A-Z]+))?(?: -d (?<data>(?:'[^']*'|\$[A-Z_]+)+))?(?: \| get id\))?$/gm

/** The requests of a section of the guide. */
function callsOf(section: string): Call[] {
  const [, text = ''] = readPage('docs/guide/journeys.md').split(`\n## ${section}\n`)
  const [own = ''] = text.split('\n## ')
  const code = blocksOf(own)
    .map(({ code }) => code)
    .join('')
  return [...code.matchAll(CALL)].map(({ groups: { variable, path = '', option, data } = {} as Partial<Record<string, string>> }) => ({
    variable,
    method: option ?? (data === undefined ? 'GET' : 'POST'),
    path,
    data,
  }))
}

/** Sends requests with the variables of the shell. Work that follows them is done before the next one. */
function runner(w: World) {
  const variables = new Map<string, string>([['YESTERDAY', '2026-11-20T00:00:00Z']])
  const filledIn = (text: string) => text.replace(/\$([A-Z_]+)/g, (_, name) => variables.get(name) ?? `no ${name}`)
  return async ({ variable, method, path, data }: Call): Promise<Reply> => {
    const raw = data === undefined ? undefined : filledIn(data).replaceAll("'", '')
    const reply = await w.request(method, `/api/client/${filledIn(path)}`, undefined, {
      ...(raw !== undefined && { raw }),
      headers: JSON_TYPE,
    })
    expect(reply.status, `${method} ${path}: ${reply.text}`).toBeLessThan(300)
    if (variable) variables.set(variable, String(reply.body.id))
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
  const subjects = async () => (await w.get('/api/client/sandbox/messages')).body.results.map(({ summary }: { summary: string }) => summary)
  expect(await subjects()).toEqual(['Welcome, Ana'])
  w.advance('2 days')
  await w.drain()
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
