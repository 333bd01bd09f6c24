/** The rows of imports that were refused. */
import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ImportId } from '../../lib/ids.ts'
import type { Failure } from './failures.ts'

/** Stores refused rows. */
export const insertFailures = (ctx: InTx, id: ImportId, failures: Failure[]) =>
  ctx.db.run(
    sql`insert into import_failures (project_id, import_id, line, code, message, cells)
        select ${ctx.projectId}, ${id}, f.line, f.code, f.message, array(select jsonb_array_elements_text(f.cells))
        from jsonb_to_recordset(${JSON.stringify(failures)}::jsonb) as f(line bigint, code text, message text, cells jsonb)`,
  )

const FailureRow = Type.Object({ line: Type.Integer(), code: Type.String(), message: Type.String(), cells: Type.Array(Type.String()) })

/** The next refused rows after a line: at least one, and no further one once those before it have `bytesMax` bytes. */
export const readFailures = (
  ctx: ProjectCtx,
  id: ImportId,
  behindLine: number,
  { rowsMax, bytesMax }: { rowsMax: number; bytesMax: number },
) =>
  ctx.db.many(
    FailureRow,
    sql`select line, code, message, cells
        from (select line, code, message, cells, sum(bytes) over (order by line) - bytes as bytes_before
              from (select line, code, message, cells, octet_length(array_to_string(cells, '')) as bytes from import_failures
                    where project_id = ${ctx.projectId} and import_id = ${id} and line > ${behindLine}
                    order by line
                    limit ${rowsMax}) next) summed
        where bytes_before < ${bytesMax}
        order by line`,
  )
