/**
 * A worker that sends a blast is killed at every point of sending a message. Each user gets at most one email, no user is missed, and a
 * message whose result is not known is `unknown`. `BLAST_USERS=100000 BLAST_KILLS=20` makes a long test.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FaultPointName, holdAt } from '../fault-points.ts'
import { openRelay, type Relay } from '../relay.ts'
import { rowsOf } from '../statements.ts'
import { type Call, caller, expectReconciled, finished, outcomesIn, prepareBlast, takenBy } from './blast.ts'
import { type Group, startGroup } from './group.ts'

const USERS = Number(process.env.BLAST_USERS ?? 600)
const KILLS = Number(process.env.BLAST_KILLS ?? 3)

let group: Group
let call: Call
beforeAll(async () => {
  group = await startGroup(['api'], { env: { MESSAGE_LEASE_S: '2' } })
  call = caller(group.urls[0] as string, group.key)
})
afterAll(() => group[Symbol.asyncDispose]())

type Point = FaultPointName | 'between attempt record and send'

/** Starts a worker and kills it at this point. */
async function killAt(point: Point, relay: Relay, passes = 0): Promise<void> {
  const held = point === 'between attempt record and send' ? relay.hold('CONNECT') : await holdAt(group.databaseUrl, point, { passes })
  await using worker = await group.start('worker')
  await held.reached()
  await worker.end('SIGKILL')
  await held.release()
}

/** Lets a worker send the remaining messages, and compares the results with the relay. Returns the results. */
async function finish(campaign: number, relay: Relay, users: number) {
  await using worker = await group.start('worker')
  await finished(call, campaign, 60_000 + users * 4)
  const rows = await outcomesIn(group.databaseUrl, campaign)
  expectReconciled(rows, (await call('GET', `/campaigns/${campaign}`)).delivery, takenBy(relay), users)
  expect(await worker.end('SIGTERM')).toEqual({ code: 0, signal: null })
  return rows
}

/** The users of messages in an attempt record whose worker was killed. */
const lostIn = async (campaign: number): Promise<string[]> =>
  (
    await rowsOf<{ user: string }>(
      group.databaseUrl,
      `select u.external_id as user from send_attempts a
       join messages m on m.id = any(a.message_ids) join users u on u.id = m.user_id
       where m.campaign_id = $1 order by m.id`,
      [campaign],
    )
  ).map(({ user }) => user)

test.each<{ point: Point; isLost: boolean; isTaken: boolean }>([
  { point: 'between claim and attempt record', isLost: false, isTaken: false },
  { point: 'between attempt record and send', isLost: true, isTaken: false },
  { point: 'between send and result', isLost: true, isTaken: true },
])(
  'a worker killed $point: messages are unknown: $isLost, the relay accepted messages: $isTaken',
  { timeout: 180_000 },
  async ({ point, isLost, isTaken }) => {
    const users = 150
    await using relay = await openRelay()
    const campaign = await prepareBlast(call, users, relay)
    await call('PATCH', `/campaigns/${campaign}`, { state: 'scheduled' })
    await killAt(point, relay)
    const taken = new Set(relay.mails.flatMap(({ to }) => to))
    const lost = await lostIn(campaign)
    expect([lost.length > 0, taken.size > 0]).toEqual([isLost, isTaken])
    const rows = await finish(campaign, relay, users)
    const unknown = rows.filter(({ state }) => state === 'unknown')
    expect(unknown.map(({ user }) => user)).toEqual(lost)
    expect(unknown.every(({ reason }) => reason === 'sender_lost')).toBe(true)
    expect(rows.filter(({ state }) => state === 'sent')).toHaveLength(users - lost.length)
  },
)

test('a blast whose worker is killed several times finishes with exact totals, and each user gets it at most once', {
  timeout: 300_000 + USERS * 10,
}, async () => {
  await using relay = await openRelay()
  const campaign = await prepareBlast(call, USERS, relay)
  await call('PATCH', `/campaigns/${campaign}`, { state: 'scheduled' })
  const points: Point[] = ['between send and result', 'between claim and attempt record', 'between attempt record and send']
  const hits: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    // One slice passes each time, so that some messages have results between two kills.
    await killAt(points[kill % points.length] as Point, relay, 1)
    hits.push(relay.mails.length)
  }
  expect(
    hits.filter((taken) => taken > 0 && taken < USERS),
    'at each kill, the relay had some of the emails and not all',
  ).toHaveLength(KILLS)
  const rows = await finish(campaign, relay, USERS)
  const states = Map.groupBy(rows, ({ state }) => state)
  expect([...states.keys()].sort()).toEqual(['sent', 'unknown'])
  expect(states.get('unknown')?.map(({ user }) => user)).toEqual(await lostIn(campaign))
})
