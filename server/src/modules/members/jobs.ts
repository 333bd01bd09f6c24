import { type Job, job } from '../../infra/queue/jobs.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { mailJob } from './mails.ts'
import { purgeChallenges } from './passkeys.queries.ts'
import { purgeSessions } from './sessions.ts'
import { purgeRedirects } from './single-sign-on.queries.ts'
import { purgeFailures } from './throttle.ts'

export const memberJobs: Job[] = [
  mailJob,
  job({
    name: 'members.purge',
    idleMs: HOUR_MS,
    run: async (ctx) =>
      (await purgeSessions(ctx)) + (await purgeFailures(ctx)) + (await purgeChallenges(ctx)) + (await purgeRedirects(ctx)),
  }),
]
