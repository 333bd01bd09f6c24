/** The variables that templates read. Each tag is analysed alone: the engine’s analysis of a whole text takes quadratic time. */
import { analysed, type LiquidTag, liquidTags, type Scope } from './liquid.ts'
import { property } from './lookup.ts'
import { pathOfVariable } from './paths.ts'

/** A variable that a template reads. */
export type Variable = {
  /** As it is written in Liquid, such as `user.data.plan`, and `user.data.a\.b` for a key with a dot. */
  path: string
  /** The parts of the path, up to the first that is known only when the template is rendered. */
  names: string[]
  line: number
}

/** Whether a variable is empty in a scope, where it is read as by a template: absent, null, blank, or an empty list. */
export function isEmptyVariable(scope: Scope, names: readonly string[]): boolean {
  let value: unknown = scope
  for (const name of names) value = property(value, name)
  if (typeof value === 'string') return value.trim() === ''
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

/** Every place where a template reads a variable, without those it assigns itself. Throws `LiquidError`. */
export function variablesOf(text: string): Variable[] {
  const found: Variable[] = []
  const assigned = new Set<string>()
  const loops: string[] = []
  const analyse = memoised(analysisOf)
  let isComment = false
  for (const tag of liquidTags(text)) {
    if (tag.name === 'comment' || tag.name === 'endcomment') isComment = tag.name === 'comment'
    if (isComment) continue
    const { variables, locals } = analyse(tag)
    const isOwn = (name: string | undefined) =>
      name !== undefined && (assigned.has(name) || loops.includes(name) || isLoopState(name, loops))
    found.push(
      ...variables.filter(({ names }) => !isOwn(names[0])).map((variable) => ({ ...variable, line: tag.line + variable.line - 1 })),
    )
    for (const name of locals) assigned.add(name)
    if (LOOPS.has(tag.name ?? '')) loops.push(loopVariable(tag) ?? '')
    if (LOOP_ENDS.has(tag.name ?? '')) loops.pop()
  }
  return found
}

const LOOPS = new Set(['for', 'tablerow'])
const LOOP_ENDS = new Set(['endfor', 'endtablerow'])
const LOOP_VARIABLE = /^\{%-?\s*\w+\s+([^\s]+)\s+in\b/

/** The variable of a loop that a tag begins. */
export const loopVariable = ({ name, text }: Pick<LiquidTag, 'name' | 'text'>): string | undefined =>
  LOOPS.has(name ?? '') ? LOOP_VARIABLE.exec(text)?.[1] : undefined

const isLoopState = (name: string, loops: string[]) => loops.length > 0 && (name === 'forloop' || name === 'tablerowloop')

type Analysis = { variables: Variable[]; locals: string[] }

function memoised(analyse: (tag: LiquidTag) => Analysis): (tag: LiquidTag) => Analysis {
  const known = new Map<string, Analysis>()
  return (tag) => {
    const analysis = known.get(tag.text) ?? analyse(tag)
    known.set(tag.text, analysis)
    return analysis
  }
}

function analysisOf(tag: LiquidTag): Analysis {
  const whole = wholeOf(tag)
  if (whole === null) return { variables: [], locals: [] }
  const { globals, locals } = analysed(whole)
  const variables = Object.values(globals)
    .flat()
    .map((variable) => ({ path: pathOfVariable(variable), names: leadingNames(variable.segments), line: variable.location.row }))
  return { variables, locals: Object.keys(locals) }
}

/** A tag with the tags that it needs to be valid alone; null if it reads no variables. */
function wholeOf({ name, text }: LiquidTag): string | null {
  switch (name) {
    case 'if':
    case 'unless':
    case 'for':
    case 'tablerow':
    case 'capture':
      return `${text}{% end${name} %}`
    case 'elsif':
      return `{% if 1 %}${text}{% endif %}`
    case 'case':
      return `${text}{% when 1 %}{% endcase %}`
    case 'when':
      return `{% case 1 %}${text}{% endcase %}`
    case null:
    case 'assign':
    case 'cycle':
    case 'echo':
    case 'increment':
    case 'decrement':
    case 'liquid':
      return text
    default:
      return null
  }
}

function leadingNames(segments: readonly unknown[]): string[] {
  const end = segments.findIndex((segment) => typeof segment !== 'string')
  return (end === -1 ? segments : segments.slice(0, end)) as string[]
}
