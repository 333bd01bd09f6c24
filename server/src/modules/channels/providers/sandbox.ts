import { CHANNELS, Exact } from '../../../lib/shapes.ts'
import { forSandbox, provider } from '../provider.ts'

/** Keeps messages as sandbox messages and sends nothing. Channels without a provider use it. */
export const sandbox = provider({
  label: 'Sandbox',
  channels: CHANNELS,
  settings: Exact({}),
  repeatable: true,
  idempotent: false,
  atOnce: 500,
  send: async (_, message) => ({ is: 'accepted', delivered: true, sandbox: forSandbox(message) }),
  test: async () => ({ works: true }),
})
