import { route } from '../../infra/http/route.ts'
import { readSystem, type Verbs } from './read-system.ts'
import { System } from './schema.ts'

export const systemRoutes = (verbs: Verbs) => [
  route({
    method: 'GET',
    path: '/api/console/system',
    summary: 'Read the state of the server.',
    description:
      'For owners of the first organisation of the server, who operate it; owners of others get 403. It has the release, the database, the queues, the processes, the free disk space and how long data is kept. It has no secrets.',
    access: { member: 'owner' },
    reply: System,
    run: (ctx) => readSystem(ctx, verbs),
  }),
]
