import { Type } from 'typebox'
import { type Sql, sql } from '../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ImportId } from '../../lib/ids.ts'
import { IdOf } from '../../lib/shapes.ts'

/** An erased user, and the ids and addresses by which files name it. */
export type ErasedUser = { external_id: string | null; email: string | null; phone: string | null }

const namesOf = (users: ErasedUser[], name: keyof ErasedUser) => users.flatMap((user) => user[name] ?? [])

/** What a file may have around the value of a cell: Unicode White_Space, which rows are read without, and the byte order mark. */
const WHITE_SPACE =
  ' \t\r\n\v\f\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'

const trimmed = (cell: Sql) => sql`btrim(${cell}, ${WHITE_SPACE})`

/** The number of the cell that refused rows of `imports i` have for a field; null without one. Columns that an import added are not stored. */
const cellFor = (field: 'external_id' | 'anonymous_id' | 'phone') => sql`(
  select c.no from (select column_ ->> 'field' as field, row_number() over (order by no) as no
                    from jsonb_array_elements(i.columns) with ordinality as a(column_, no) where column_ -> 'added' is null) c
  where c.field = ${field}
)`

/** The imports whose rows are looked at; null for all of the project. */
export type Among = ImportId[] | null

const isAmong = (among: Among, id: Sql): Sql => (among === null ? sql`true` : sql`${id} = any(${among}::bigint[])`)

/** For `with`: the imports that have refused rows and a column for a field, as the table `files` with the number of its cell. */
const filesWith = (ctx: InTx, field: 'anonymous_id' | 'phone', among: Among) => sql`files as materialized (
  select f.id, f.no from (select i.id, ${cellFor(field)} as no from imports i
                          where i.project_id = ${ctx.projectId} and i.failed > 0 and i.purged_at is null and ${isAmong(among, sql`i.id`)}) f
  where f.no is not null
)`

/** Takes rows out of the first rows of dry runs, whose users were not created. */
const withoutFirstRows = (ctx: InTx, isOfErased: Sql, among: Among) => sql`
  update imports
  set first_rows = coalesce(
        (select jsonb_agg(f.row order by f.no) from jsonb_array_elements(first_rows) with ordinality as f(row, no)
         where ${isOfErased} is not true),
        '[]')
  where project_id = ${ctx.projectId} and first_rows is not null and ${isAmong(among, sql`id`)}
    and exists (select from jsonb_array_elements(first_rows) as f(row) where ${isOfErased})`

const Written = Type.Object({ cell: Type.String() })

/** What refused rows have as phone numbers that end with these digits, as it is written. Files may leave out the code of the country. */
export const phonesWithLastDigits = async (ctx: InTx, digits: string[], among: Among): Promise<string[]> => {
  const rows = await ctx.db.many(
    Written,
    sql`with ${filesWith(ctx, 'phone', among)}
        select distinct r.cells[f.no] as cell from files f join import_failures r on r.project_id = ${ctx.projectId} and r.import_id = f.id
        where right(regexp_replace(r.cells[f.no], '[^0-9]', '', 'g'), ${digits[0]?.length ?? 0}) = any(${digits}::text[])`,
  )
  return rows.map(({ cell }) => cell)
}

/**
 * Deletes refused rows and first rows that name these users (D-IMP-5). Ids count only in their own column, because they can be any number;
 * addresses in any, because columns may be skipped. `phones` are those of the users as refused rows write them.
 */
export const eraseNamed = (ctx: InTx, users: ErasedUser[], phones: string[], among: Among) => {
  const externalIds = namesOf(users, 'external_id')
  const emails = namesOf(users, 'email').map((email) => email.toLowerCase())
  const addresses = [...emails, ...namesOf(users, 'phone')]
  const isOfErased = sql`(
    f.row ->> 'external_id' = any(${externalIds}::text[])
    or f.row ->> 'phone' = any(${namesOf(users, 'phone')}::text[])
    or lower(f.row ->> 'email') = any(${emails}::text[])
  )`
  return ctx.db.run(
    sql`with files as materialized (
          select i.id, ${cellFor('external_id')} as external_id, ${cellFor('phone')} as phone from imports i
          where i.project_id = ${ctx.projectId} and i.failed > 0 and i.purged_at is null and ${isAmong(among, sql`i.id`)}
        ), refused as (
          delete from import_failures r using files f
          where r.project_id = ${ctx.projectId} and r.import_id = f.id
            and (${trimmed(sql`r.cells[f.external_id]`)} = any(${externalIds}::text[])
                 or r.cells[f.phone] = any(${phones}::text[])
                 or exists (select from unnest(r.cells) as c(cell) where lower(${trimmed(sql`c.cell`)}) = any(${addresses}::text[])))
        )
        ${withoutFirstRows(ctx, isOfErased, among)}`,
  )
}

/** Deletes refused rows and first rows with these anonymous ids. */
export const eraseAnonymous = (ctx: InTx, anonymousIds: string[]) =>
  ctx.db.run(
    sql`with ${filesWith(ctx, 'anonymous_id', null)}, refused as (
          delete from import_failures r using files f
          where r.project_id = ${ctx.projectId} and r.import_id = f.id and ${trimmed(sql`r.cells[f.no]`)} = any(${anonymousIds}::text[])
        )
        ${withoutFirstRows(ctx, sql`f.row ->> 'anonymous_id' = any(${anonymousIds}::text[])`, null)}`,
  )

const IdRow = Type.Object({ id: IdOf<ImportId>() })

/** The imports of which refused rows or first rows are stored. */
export const importsWithRows = async (ctx: ProjectCtx): Promise<ImportId[]> => {
  const rows = await ctx.db.many(
    IdRow,
    sql`select id from imports
        where project_id = ${ctx.projectId} and (failed > 0 and purged_at is null or first_rows is not null)
        order by id`,
  )
  return rows.map(({ id }) => id)
}
