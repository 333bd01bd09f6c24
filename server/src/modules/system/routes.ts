import { route } from '../../infra/http/route.ts'
import { readSystem, type Verbs } from './read-system.ts'
import { System } from './schema.ts'

export const systemRoutes = (verbs: Verbs) => [
  route({
    method: 'GET',
    path: '/api/console/system',
    summary: 'Read the state of the server.',
    description:
      'Only for owners of the server’s first organisation, who operate the server; other owners get 403. The reply has the release, the database, the queues, the processes, the free disk space and how long data is kept. It contains no secrets.',
    access: { member: 'owner' },
    reply: System,
    run: (ctx) => readSystem(ctx, verbs),
  }),
]
