import { sql } from '../../infra/postgres/db.ts'
import { type UserStore, userStore } from '../../infra/postgres/user-data.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'

/** What this module stores about users. Headers of calls have the secrets of the project, and are left out. */
export const journeyStores: UserStore[] = [
  userStore('journey_calls', 'journey_calls', ({ projectId }) => ({
    from: sql`journey_calls c`,
    where: sql`c.project_id = ${projectId}`,
    user: sql`c.user_id`,
    select: sql`c.user_id, c.entrance_id, c.visit, c.journey_id, c.attempts, c.host, c.request - 'headers' as request, c.created_at, c.due_at`,
    key: [
      { column: sql`c.user_id`, type: 'bigint' },
      { column: sql`c.entrance_id`, type: 'bigint' },
      { column: sql`c.visit`, type: 'integer' },
    ],
    pageRows: 50,
  })),
]

/** Takes erased users out of the examples of results, of which a project has few. */
export const eraseExamples = (ctx: InTx, users: UserId[]) =>
  ctx.db.run(
    sql`update journey_backtests
        set result = jsonb_set(result, '{examples}', coalesce(
              (select jsonb_agg(e.example order by e.no) from jsonb_array_elements(result -> 'examples') with ordinality as e(example, no)
               where (e.example ->> 'user_id')::bigint <> all(${users}::bigint[])),
              '[]'))
        where project_id = ${ctx.projectId} and result is not null
          and exists (select from jsonb_array_elements(result -> 'examples') as e(example)
                      where (e.example ->> 'user_id')::bigint = any(${users}::bigint[]))`,
  )
