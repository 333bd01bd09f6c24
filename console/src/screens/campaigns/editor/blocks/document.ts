/**
 * Blocks are a way to edit MJML, which is what is stored. MJML that these functions would write opens as blocks again, whoever has written
 * it; all other MJML stays as it is. Pure.
 */
import { type BlockKind, KINDS, type KindName, kindOf } from './kinds.ts'
import { ENCODINGS, type Masked, mask } from './markup.ts'

/** A block that users see. `id` is known to the editor only. */
export type Leaf = { id: number; is: KindName; values: Record<string, string> }
/** Blocks beside each other. On telephones they are below each other. */
export type Columns = { id: number; is: 'columns'; columns: Leaf[][] }
export type Block = Leaf | Columns

/** The blocks as MJML. */
export function mjmlOf(blocks: Block[]): string {
  const sections: Leaf[][][] = []
  let run: Leaf[] | undefined
  for (const block of blocks) {
    if (block.is === 'columns') {
      sections.push(block.columns)
      run = undefined
    } else if (run) run.push(block)
    else {
      run = [block]
      sections.push([run])
    }
  }
  return `<mjml>\n  <mj-body>\n${sections.map(writeSection).join('')}  </mj-body>\n</mjml>\n`
}

const writeSection = (columns: Leaf[][]) => `    <mj-section>\n${columns.map(writeColumn).join('')}    </mj-section>\n`
const writeColumn = (blocks: Leaf[]) =>
  `      <mj-column>\n${blocks.map((block) => `        ${writeLeaf(block)}\n`).join('')}      </mj-column>\n`

const PLACE = /\$(text|src|alt|href|height|label|html)/

function writeLeaf({ is, values }: Leaf): string {
  const { fields, mjml } = kindOf(is)
  const written = Object.fromEntries(
    Object.entries(fields).map(([name, encoding]) => {
      const { text, unmask } = mask(values[name] ?? '')
      return [name, unmask(ENCODINGS[encoding].write(text))]
    }),
  )
  // The shortest that leaves out no field with a value.
  const pattern = mjml.findLast((one) => Object.entries(written).every(([name, value]) => value === '' || one.includes(`$${name}`))) ?? ''
  return pattern
    .split(PLACE)
    .map((part, index) => (index % 2 === 1 ? (written[part] ?? '') : part))
    .join('')
}

type Reader = { name: KindName; names: string[]; expression: RegExp }

const literal = (text: string) => text.replaceAll(/[$()*+./?[\\\]^{|}-]/g, '\\$&')

/** What reads one way of writing a kind. Its Liquid is masked, as that of the source is. */
function readerOf(name: KindName, { fields }: BlockKind, pattern: string): Reader {
  const parts = pattern.split(PLACE)
  const source = parts
    .map((part, index) =>
      index % 2 === 1
        ? `(${ENCODINGS[fields[part] ?? 'line'].source})`
        : literal(part).replaceAll('\\{\\{ unsubscribe_url \\}\\}', '[\\uE000-\\uF8FF]'),
    )
    .join('')
  return { name, names: parts.filter((_, index) => index % 2 === 1), expression: new RegExp(`^${source}\\n`) }
}

/** Those with a mark of their own come first: a text is read as a footer where it is one. */
const READERS = (Object.keys(KINDS) as KindName[]).flatMap((name) =>
  kindOf(name).mjml.map((pattern) => readerOf(name, kindOf(name), pattern)),
)

/** The blocks of MJML, or null where it has anything that blocks do not show. */
export function blocksOf(mjml: string): Block[] | null {
  const masked = mask(mjml)
  const body = /^<mjml>\n {2}<mj-body>\n([\s\S]*) {2}<\/mj-body>\n<\/mjml>\n$/.exec(masked.text)?.[1]
  if (body === undefined) return null
  let last = 0
  const nextId = () => ++last
  const sections = insides(body, '    ', 'mj-section').map((section) =>
    insides(section, '      ', 'mj-column').map((column) => readLeaves(column, masked, nextId)),
  )
  const blocks = sections.flatMap((columns): Block[] =>
    columns.length === 1 ? (columns[0] ?? []) : [{ id: nextId(), is: 'columns', columns }],
  )
  // Whatever was not understood, or is written otherwise, is not lost: the MJML is edited as it is.
  return mjmlOf(blocks) === mjml ? blocks : null
}

/** What is between the tags of each element of a name, at an indentation. */
const insides = (text: string, indent: string, name: string): string[] =>
  text
    .split(`${indent}<${name}>\n`)
    .slice(1)
    .map((part) => part.split(`${indent}</${name}>\n`)[0] ?? '')

function readLeaves(column: string, { unmask }: Masked, nextId: () => number): Leaf[] {
  const leaves: Leaf[] = []
  let rest = column
  while (rest.startsWith('        ')) {
    rest = rest.slice(8)
    const found = READERS.map((reader) => ({ reader, match: reader.expression.exec(rest) })).find(({ match }) => match !== null)
    if (!found?.match) return leaves
    const { reader, match } = found
    const { fields } = kindOf(reader.name)
    const values = reader.names.map((name, index) => [name, unmask(ENCODINGS[fields[name] ?? 'line'].read(match[index + 1] ?? ''))])
    leaves.push({ id: nextId(), is: reader.name, values: { ...kindOf(reader.name).start, ...Object.fromEntries(values) } })
    rest = rest.slice(match[0].length)
  }
  return leaves
}
