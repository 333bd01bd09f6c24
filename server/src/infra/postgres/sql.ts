/** Statements as values: their text, and their parameters apart from it. */
import { createHash } from 'node:crypto'

/** A statement or a part of one. Only `sql` creates them. */
export class Sql {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
  readonly isOneOff: boolean
  constructor(strings: readonly string[], values: readonly unknown[], isOneOff = false) {
    this.strings = strings
    this.values = values
    this.isOneOff = isOneOff
  }
}

/** Builds a statement. `${value}` becomes a parameter, `${sql`…`}` a part of the text. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  return new Sql(strings, values)
}

/** Text that becomes part of the statement unchanged. Only for identifiers that the code chooses, never for input. */
export const raw = (text: string): Sql => new Sql([text], [])

/** Marks a statement as not to be prepared, because its text depends on a rule and there may be any number of them. */
export const unprepared = ({ strings, values }: Sql): Sql => new Sql(strings, values, true)

/**
 * Ends a lateral subquery that is run for each row, through its index. Without it PostgreSQL may merge the subquery into the statement, and
 * join a large table as a whole when it believes the table to be small.
 */
export const fence = raw('offset 0')

/** Joins parts with a separator. */
export function join(parts: readonly Sql[], separator: string): Sql {
  if (parts.length === 0) return raw('')
  return new Sql(['', ...parts.slice(1).map(() => separator), ''], parts)
}

type Prepared = { name: string; text: string; values: unknown[] }

const NAMES_MAX = 2000

/** Prepares the statements of a pool under hashes of their texts, so that each of its connections plans a statement once. */
export function statementNames(): (statement: Sql) => Prepared {
  const names = new Map<string, string>()
  return (statement) => {
    const { text, values } = unnamed(statement)
    if (statement.isOneOff) return { name: '', text, values }
    let name = names.get(text)
    if (!name) {
      // Statements that are composed at run time are many: the rest stays unnamed and is planned each time, to limit memory.
      if (names.size >= NAMES_MAX) return { name: '', text, values }
      name = createHash('sha1').update(text).digest('base64url').slice(0, 20)
      names.set(text, name)
    }
    return { name, text, values }
  }
}

/** A statement that is planned each time it runs. */
export function unnamed(statement: Sql): Prepared {
  const values: unknown[] = []
  return { name: '', text: render(statement, values), values }
}

function render({ strings, values: parts }: Sql, values: unknown[]): string {
  let text = strings[0] ?? ''
  for (const [index, part] of parts.entries()) {
    text += part instanceof Sql ? render(part, values) : `$${values.push(part)}`
    text += strings[index + 1]
  }
  return text
}

export const summaryOf = (statement: Sql): string => unnamed(statement).text.trim().slice(0, 200)
