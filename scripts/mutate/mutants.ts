/** Creates mutants: copies of a source text with one small change each. */
import { createHash } from 'node:crypto'
import ts from 'typescript'
import type { Edit } from './of-sql.ts'
import { editsOfNode, isLeftAlone } from './of-typescript.ts'

export type Mutant = Edit & { line: number; change: string }

/** Every mutant of a TypeScript file, in the order of the text, without those that would not parse. */
export function mutantsOf(text: string): Mutant[] {
  const source = ts.createSourceFile('mutated.ts', text, ts.ScriptTarget.Latest, true)
  const edits = new Map<string, Edit>()
  const visit = (node: ts.Node): void => {
    if (isLeftAlone(node)) return
    for (const edit of editsOfNode(node, source)) edits.set(`${edit.start} ${edit.end} ${edit.replacement}`, edit)
    node.forEachChild(visit)
  }
  visit(source)
  return [...edits.values()]
    .filter((edit) => edit.replacement !== text.slice(edit.start, edit.end) && parses(mutated(text, edit)))
    .sort((a, b) => a.start - b.start || a.end - b.end)
    .map((edit) => ({ ...edit, line: source.getLineAndCharacterOfPosition(edit.start).line + 1, change: changeOf(text, edit) }))
}

/** The text with the change. */
export const mutated = (text: string, { start, end, replacement }: Pick<Edit, 'start' | 'end' | 'replacement'>): string =>
  text.slice(0, start) + replacement + text.slice(end)

const parses = (text: string) => ts.transpileModule(text, { reportDiagnostics: true }).diagnostics?.length === 0

const SHOWN_MAX = 100
const AROUND = 20

/** Describes the change in a line. A short change is shown with its context. */
function changeOf(text: string, { kind, start, end, replacement }: Edit): string {
  const isShort = end - start < AROUND
  const from = isShort ? Math.max(text.lastIndexOf(' ', start - AROUND), text.lastIndexOf('\n', start - 1)) + 1 : start
  const to = isShort ? Math.min(placeOf(text, ' ', end + AROUND), placeOf(text, '\n', end)) : end
  const before = shown(text.slice(from, to))
  const after = shown(text.slice(from, start) + replacement + text.slice(end, to))
  return after === '' || after === ';' ? `${kind}: without \`${before}\`` : `${kind}: \`${before}\` became \`${after}\``
}

function placeOf(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from)
  return at === -1 ? text.length : at
}

function shown(text: string): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('`', '´').trim()
  return line.length > SHOWN_MAX ? `${line.slice(0, SHOWN_MAX)} …` : line
}

/** Shuffles by the seed, so that the first items are a random sample. */
export function shuffled<T>(items: readonly T[], seed: string): T[] {
  const order = items.map((item, index) => ({ item, at: createHash('sha256').update(`${seed} ${index}`).digest('hex') }))
  return order.sort((a, b) => (a.at < b.at ? -1 : 1)).map(({ item }) => item)
}
