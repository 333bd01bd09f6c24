import { CHANNELS, Exact } from '../../../lib/shapes.ts'
import { provider, rendered } from '../provider.ts'

/** Captures everything for the sandbox inbox, and nothing leaves the machine. Every project begins with it. */
export const sandbox = provider({
  label: 'Sandbox',
  channels: CHANNELS,
  settings: Exact({}),
  repeatable: true,
  idempotent: false,
  atOnce: 500,
  send: async (_, message) => ({ is: 'accepted', delivered: true, capture: rendered(message) }),
  test: async () => ({ works: true }),
})
