import { sql } from '../../../infra/postgres/db.ts'
import type { ListId } from '../../../lib/ids.ts'
import { Exact, IdOf } from '../../../lib/shapes.ts'
import type { ListCondition } from '../rule.ts'
import { condition } from './condition.ts'

export const list = condition<ListCondition>({
  label: 'List',
  description: 'Users in another list. Lists must not refer to each other in a cycle.',
  shape: Exact({ list: IdOf<ListId>({ description: 'The id of the list.' }) }),
  example: { list: 12 },
  references: (given) => [{ kind: 'list', id: given.list, param: 'list' }],
  compile: ({ list: id }) => ({
    dependencies: [`list:${id}`],
    needs: 'lists',
    holds: (facts) => facts.isIn(id),
    evidence: (facts) => facts.isIn(id),
    sql: ({ projectId, tables }) => ({
      holds: sql`exists (select from ${tables.memberships} m
                         where m.project_id = ${projectId} and m.user_id = u.id and m.is_member
                           and m.version_id = (select l.live_version_id from ${tables.lists} l where l.project_id = ${projectId} and l.id = ${id}))`,
    }),
  }),
  describe: (given, names) => `in the list ${names.list(given.list) === undefined ? given.list : `“${names.list(given.list)}”`}`,
})
