/** Fields of a report: lines `Name: value`, in blocks that empty lines separate. Names are compared in lower case. Pure. */

/** The values of a block by name. A field may come several times. */
export type Fields = Map<string, string[]>

/** The blocks of a report. Lines end with CR LF or LF; lines that are not fields are left out. */
export function blocksOf(text: string): Fields[] {
  const blocks: Fields[] = []
  let fields: Fields = new Map()
  for (const line of unfolded(text)) {
    if (line.trim() === '') {
      if (fields.size > 0) blocks.push(fields)
      fields = new Map()
      continue
    }
    const colon = line.indexOf(':')
    if (colon < 1) continue
    const name = line.slice(0, colon).trim().toLowerCase()
    const values = fields.get(name) ?? []
    values.push(line.slice(colon + 1).trim())
    fields.set(name, values)
  }
  return fields.size > 0 ? [...blocks, fields] : blocks
}

/** The first value of a field. */
export const firstOf = (fields: Fields, name: string): string | undefined => fields.get(name)?.[0]

/** The part of a value after its type: `rfc822; kim@example.org`, `smtp; 550 5.1.1 …`. */
export const withoutType = (value: string): string => value.slice(value.indexOf(';') + 1).trim()

/** The address of a value, without a type, brackets and quotes. */
export const addressOf = (value: string): string => {
  const text = withoutType(value)
  const open = text.lastIndexOf('<')
  const close = text.indexOf('>', open)
  return (open >= 0 && close > open ? text.slice(open + 1, close) : text).trim()
}

/** The lines of a text, each with those that continue it. */
function unfolded(text: string): string[] {
  const lines: string[] = []
  for (const line of text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))) {
    const isContinued = (line.startsWith(' ') || line.startsWith('\t')) && line.trim() !== ''
    const last = lines.length - 1
    if (isContinued && last >= 0 && lines[last] !== '') lines[last] = `${lines[last]} ${line.trim()}`
    else lines.push(line)
  }
  return lines
}
