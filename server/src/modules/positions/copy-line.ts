/** Lines of the text format of COPY. Pure. */

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

const escaped = (text: string): string => text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] as string)

function field(value: unknown): string {
  if (value === null || value === undefined) return '\\N'
  if (typeof value === 'number') return String(value)
  if (value instanceof Date) return value.toISOString()
  return escaped(typeof value === 'string' ? value : JSON.stringify(value))
}

/** A row. Objects and arrays become JSON. */
export const copyLine = (values: readonly unknown[]): string => `${values.map(field).join('\t')}\n`
