/** The home screen: where each problem of the API leads. */
import { expect, test } from 'vitest'
import { problemsOf } from '../src/screens/home/overview.ts'

const object = (type: 'webhook' | 'domain' | 'campaign' | 'channel', id: string) => ({ type, id, name: `the ${type}` })

test('each problem leads to the screen on which it is solved, in the order of the API', () => {
  const problems = [
    { kind: 'processing_late', object: null },
    { kind: 'items_parked', object: null },
    { kind: 'mail_paused', object: null },
    { kind: 'campaign_paused', object: object('campaign', '7') },
    { kind: 'bounces_high', object: object('channel', 'email') },
    { kind: 'failures_high', object: object('channel', 'text') },
    { kind: 'webhook_disabled', object: object('webhook', '5') },
    { kind: 'domain_problem', object: object('domain', '3') },
  ] as const
  const overview = { problems: problems.map((problem) => ({ ...problem, message: 'What to do.' })) }
  const listed = problemsOf(2, true, overview)
  expect(listed.map(({ kind, tone, to, search }) => [kind, tone, to, ...(search ? [search] : [])])).toEqual([
    ['processing_late', 'bad', '/p/2/system'],
    ['items_parked', 'bad', '/p/2/system'],
    ['mail_paused', 'warn', '/p/2/mail-queue'],
    ['campaign_paused', 'warn', '/p/2/campaigns/7'],
    ['bounces_high', 'bad', '/p/2/messages', { channel: 'email', state: 'bounced' }],
    ['failures_high', 'bad', '/p/2/messages', { channel: 'text', state: 'failed' }],
    ['webhook_disabled', 'bad', '/p/2/webhooks/5'],
    ['domain_problem', 'warn', '/p/2/domains/3'],
  ])
  // The state of the server is shown to owners only.
  expect(problemsOf(2, false, overview).filter(({ to }) => to === null)).toHaveLength(2)
})
