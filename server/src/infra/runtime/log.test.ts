import { expect, test } from 'vitest'
import { world } from '../../../test/world.ts'
import { sql } from '../postgres/db.ts'
import { createLog } from './log.ts'

/** A log, and the lines that it writes. */
function logged() {
  const lines: string[] = []
  return { lines, log: createLog('info', { write: (line) => lines.push(line) }) }
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable(),
    (error: Error) => error,
  )

test('personal data and secrets are not logged, at any level of the fields', () => {
  const { log, lines } = logged()
  log.info(
    { email: 'kim@example.com', user: { phone: '+61400123456' }, deep: { headers: { authorization: 'Bearer sk_secret' } }, id: 7 },
    'test message',
  )
  expect(lines.join('')).not.toMatch(/kim@|61400|sk_secret/)
  expect(JSON.parse(lines[0] as string)).toMatchObject({ level: 'info', msg: 'test message', id: 7, time: expect.any(String) })
})

test('of an error of PostgreSQL neither rows nor values are logged, also where it is one of several', async () => {
  await using w = await world()
  const { log, lines } = logged()
  const failures = [
    await failureOf(w.db.run(sql`insert into users (project_id, external_id) values (${w.projectId}, 'kim'), (${w.projectId}, 'kim')`)),
    await failureOf(
      w.db.copy(sql`copy users (project_id, external_id, anonymous_id, id) from stdin`, [`${w.projectId}\tkim\tkim\tnone\n`]),
    ),
  ]
  for (const err of [...failures, new AggregateError(failures, 'two failed'), new Error('failed', { cause: failures[0] })])
    log.error({ err }, 'test message')
  expect(lines).toHaveLength(4)
  expect(lines.join('')).not.toContain('kim')
  expect(JSON.parse(lines[0] as string).err).toMatchObject({
    type: 'DatabaseError',
    code: '23502',
    table: 'users',
    stack: expect.any(String),
  })
  expect(JSON.parse(lines[2] as string).err).toMatchObject({
    message: 'two failed',
    aggregateErrors: [{ code: '23502' }, { code: '22P02' }],
  })
})

test('values in messages of PostgreSQL are not logged', async () => {
  await using w = await world()
  const { log, lines } = logged()
  const whole = await failureOf(w.db.run(sql`select ${'a "very $& secret" value'}::text::int`))
  const within = await failureOf(w.db.run(sql`select ${'a very secret date'}::text::date`))
  const rewritten = new Error(`It failed: ${whole.message}`, { cause: whole })
  for (const err of [whole, within, rewritten, new Error('failed', { cause: whole }), new AggregateError([whole, within], 'two failed')])
    log.error({ err }, 'test message')
  expect(lines.join('')).not.toMatch(/secret/)
  expect(JSON.parse(lines[0] as string).err).toMatchObject({
    message: 'invalid input syntax for type integer: [redacted]',
    code: '22P02',
    stack: expect.stringMatching(/integer: \[redacted\]\n +at /),
  })
})

test('each request is one line, with its ids but neither body nor key', async () => {
  const lines: string[] = []
  await using w = await world({ log: { write: (line) => lines.push(line) } })
  const { headers } = await w.post('/api/client/users/batch', [{ external_id: 'kim', email: 'kim@example.com' }])
  const [line, ...others] = lines.map((text) => JSON.parse(text)).filter(({ msg }) => msg === 'request')
  expect(others).toEqual([])
  expect(line).toMatchObject({
    request_id: headers['x-request-id'],
    project_id: w.projectId,
    key_id: expect.any(Number),
    route: '/api/client/users/batch',
    status: 200,
  })
  expect(lines.join('')).not.toMatch(/kim|sk_/)
})
