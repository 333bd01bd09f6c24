import { Exact } from '../../../lib/shapes.ts'
import { provider, rendered } from '../provider.ts'

/** Stores messages in the user’s inbox, from which apps fetch them. They do not leave the database. */
export const inbox = provider({
  label: 'In-app inbox',
  channels: ['in_app'],
  settings: Exact({}),
  repeatable: true,
  idempotent: false,
  atOnce: 500,
  send: async (_, message) => ({ is: 'accepted', delivered: true, inbox: rendered(message) }),
  test: async () => ({ works: true }),
})
