import { CHANNELS, Exact } from '../../../lib/shapes.ts'
import { provider } from '../provider.ts'

/** Captures everything for the sandbox inbox, and nothing leaves the machine. Every project begins with it. */
export const sandbox = provider({
  label: 'Sandbox',
  channels: CHANNELS,
  settings: Exact({}),
  repeatable: true,
  send: async (_, message) => ({ is: 'accepted', delivered: true, capture: message }),
})
