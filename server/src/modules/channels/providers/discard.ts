import { CHANNELS, Exact } from '../../../lib/shapes.ts'
import { provider } from '../provider.ts'

/** Takes everything and keeps nothing: for load tests, and for channels that a project wants to be silent. */
export const discard = provider({
  label: 'Discard',
  channels: CHANNELS,
  settings: Exact({}),
  repeatable: true,
  idempotent: false,
  atOnce: 500,
  send: async () => ({ is: 'accepted', delivered: false }),
  test: async () => ({ works: true }),
})
