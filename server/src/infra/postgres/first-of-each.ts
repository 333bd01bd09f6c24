/** Reading an index from one group of its rows to the next, past all the others of each group. */
import { join, raw, type Sql, sql } from './db.ts'

type Groups = {
  /** The table, with an alias if `where` needs one. */
  table: Sql
  /** The columns that a group has in common, such as `project_id`. With `order`, they begin an index, which is read. */
  keys: string[]
  /** The columns that decide which row of a group is first. */
  order?: string[]
  /** A condition on the rows of the table, which the index has too. */
  where?: Sql
  /** A condition on `keys` that the first group meets, and all later ones with it: where the reading begins. */
  from?: Sql
}

/**
 * For `with recursive`: the first row of each group as the table `name`, with the columns of `keys` and `order`. Each group costs one index
 * lookup, however many rows it has; `distinct` would read all of them. A limit on the table ends the reading.
 */
export function firstOfEach(name: string, { table, keys, order = [], where = sql`true`, from = sql`true` }: Groups): Sql {
  const list = (names: string[], prefix = '') => raw(names.map((column) => prefix + column).join(', '))
  const columns = list([...keys, ...order])
  const first = (beyond: Sql[]) =>
    sql`(select ${columns} from ${table} where ${join([where, ...beyond], ' and ')} order by ${columns} limit 1)`
  return sql`${raw(name)} as (
          ${first([from])}
          union all
          select further.*
          from ${raw(name)} former
          cross join lateral ${first([sql`(${list(keys)}) > (${list(keys, 'former.')})`])} further
        )`
}
