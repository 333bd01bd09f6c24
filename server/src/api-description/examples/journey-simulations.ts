/** Simulations and backtests of journeys. */
import type { Words } from '../../infra/http/openapi/words.ts'

const AT = '2026-11-23T09:00:00.000Z'
const LATER = '2026-11-25T09:00:00.000Z'

const simulation = {
  user: { profile: { email: 'ana@example.com', data: { name: 'Ana' } } },
  at: AT,
  inputs: [{ at: AT, event: { name: 'signed_up', data: { plan: 'pro' } } }],
  outcomes: { hello: 'delivered' },
}

const simulated = {
  visits: [
    {
      ...{ entrance: 1, visit: 1, step: 'start', arrived_at: AT, left_at: AT, path: 'default', reason: 'entered', seen: {} },
      sentence: 'Entered the journey through the event signed_up.',
    },
    {
      ...{ entrance: 1, visit: 2, step: 'hello', arrived_at: AT, left_at: AT, path: 'default', reason: 'delivered', seen: {} },
      sentence: 'The message of the campaign 7 was delivered.',
    },
    {
      ...{ entrance: 1, visit: 3, step: 'wait', arrived_at: AT, left_at: LATER, path: 'default', reason: 'elapsed', seen: {} },
      sentence: 'Waited for 2 days.',
    },
  ],
  messages: [
    {
      ...{ step: 'hello', visit: 2, campaign_id: 7, at: AT, eligible: true, reason: null },
      rendered: { from: 'shop@example.com', subject: 'Welcome, Ana', html: '<p>Hello</p>', text: 'Hello' },
    },
  ],
  refused: [],
  outcome: { as: 'completed', reason: 'completed', at: LATER },
  next_due: null,
}

const window = { since: '2026-10-24T09:00:00.000Z', until: AT }
const running = { id: 2, state: 'running', ...window, version: 3, progress: { users_done: 0, users_total: null }, created_at: AT }

const result = {
  ...{ users: 1300, entrants: 1208, completed: 1100, exited: 20, active: 88, sends: 1150 },
  skips: { not_subscribed: 58 },
  refused: { once_only: 92 },
  steps: { start: { entered: 1208, left: 1208 }, hello: { entered: 1208, left: 1208 } },
  edges: [{ from: 'start', path: 'default', to: 'hello', users: 1208 }],
  inside_at_start: 41,
  excluded: { merged: 3 },
  difference: { hello: { live: 1190, backtest: 1208 } },
  approximate: ['attributes'],
  examples: [{ user_id: 42, visits: [{ step: 'start', arrived_at: AT, left_at: AT, path: 'default', reason: 'entered' }] }],
}

const finished = {
  ...running,
  state: 'finished',
  progress: { users_done: 1303, users_total: 1303 },
  result,
  finished_at: '2026-11-23T09:00:04.000Z',
}

export const journeySimulationOperations: Words['operations'] = {
  simulateJourney: { body: simulation, reply: simulated },
  backtestJourney: { body: { since: window.since }, reply: running },
  getJourneyBacktest: { reply: finished },
}
