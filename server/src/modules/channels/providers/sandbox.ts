import { CHANNELS, Exact } from '../../../lib/shapes.ts'
import { provider, rendered } from '../provider.ts'

/** Keeps messages as sandbox messages and sends nothing. Channels without a provider use it. */
export const sandbox = provider({
  label: 'Sandbox',
  channels: CHANNELS,
  settings: Exact({}),
  repeatable: true,
  idempotent: false,
  atOnce: 500,
  send: async (_, message) => ({ is: 'accepted', delivered: true, sandbox: rendered(message) }),
  test: async () => ({ works: true }),
})
