import { route } from '../../infra/http/route.ts'
import { Activity, ActivityQuery } from './schema.ts'
import { readActivity } from './service.ts'

export const activityRoutes = [
  route({
    method: 'GET',
    path: '/api/client/activity',
    summary: 'Poll the activity of users: opens, clicks, opt-ins, opt-outs, replies and list changes.',
    description:
      'The feed of a project begins with the first request for it. Items are kept for 30 days. Send the `cursor` of each reply with the next request: each item is returned once, oldest first. An item that was reported late is returned last, with its original `created_at`.',
    access: { secret: 'support' },
    query: ActivityQuery,
    reply: Activity,
    run: (ctx, { query }) => readActivity(ctx, query),
  }),
]
