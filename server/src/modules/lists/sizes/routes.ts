import { route } from '../../../infra/http/route.ts'
import { ListSizes, ListTags, SizesQuery } from './schema.ts'
import { readSizes, readTags } from './sizes.ts'

export const sizeRoutes = [
  route({
    method: 'GET',
    path: '/api/client/lists/sizes',
    summary: 'Read the daily sizes of lists in the last 30 days.',
    description:
      'One number for each day, stored early on that day in UTC. A new list has no number until the next day. Archived lists are left out.',
    access: { secret: 'support' },
    query: SizesQuery,
    reply: ListSizes,
    run: (ctx, { query }) => readSizes(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/api/client/lists/tags',
    summary: 'List the tags of lists.',
    description: 'Tags of archived lists are left out.',
    access: { secret: 'support' },
    reply: ListTags,
    run: (ctx) => readTags(ctx),
  }),
]
