import { sql } from '../../infra/postgres/db.ts'

/**
 * The data of `events e` as the caller may see it: values that attributes had before may be hidden from it, and so may be the names of
 * changed attributes. `hidden` are the keys that it may not see.
 */
export const shownData = (hidden: string[]) =>
  sql`case when e.source = 'system' and e.name = 'user_updated' then ${shownChange(hidden)} else e.data end`

const shownChange = (hidden: string[]) =>
  hidden.length === 0
    ? sql`e.data - 'was'`
    : sql`(e.data - 'was') || jsonb_build_object('changed', (
            select coalesce(jsonb_agg(c.name order by c.no), '[]')
            from jsonb_array_elements_text(e.data -> 'changed') with ordinality as c(name, no)
            where c.name <> all(${hidden.map((key) => `data.${key}`)}::text[])))`
