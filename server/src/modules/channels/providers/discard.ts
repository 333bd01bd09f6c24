import { CHANNELS, Exact } from '../../../lib/shapes.ts'
import { provider } from '../provider.ts'

/** Discards messages: for load tests, and for projects that do not want to use a channel. */
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
