/** The tags of Liquid as closures. Each does what `render` of its class in liquidjs does, odd parameters included. Loops: `loops.ts`. */
import {
  AssignTag,
  BreakTag,
  CaptureTag,
  CaseTag,
  CommentTag,
  ContinueTag,
  CycleTag,
  DecrementTag,
  EchoTag,
  type FilteredValueToken,
  ForTag,
  IfTag,
  IncrementTag,
  InlineCommentTag,
  LiquidTag,
  RawTag,
  TablerowTag,
  type Tag,
  type Token,
  toValue,
  UnlessTag,
  Value,
} from 'liquidjs'
import { type Block, type Evaluate, type Instruction, type Parts, runBlock } from './blocks.ts'
import { CountedEmitter } from './budget.ts'
import { compileFor, compileTablerow } from './loops.ts'
import { compilePrinted, compileToken, compileValue, equals, isTruthy } from './values.ts'

// The engine declares some members of its tags as private.
type Counting = { variable: string }
type Assigning = { key: string; value: Value }
type Cycling = { candidates: FilteredValueToken[]; group?: Token; token: Token }
type Echoing = { value?: Value; token: Token }
type Verbatim = { tokens: Token[] }

const NOTHING: Instruction = () => undefined

const breakLoop: Instruction = (context) => {
  context.breakCalled = true
}

const continueLoop: Instruction = (context) => {
  context.continueCalled = true
}

function compileAssign({ compilation }: Parts, { key, value }: Assigning): Instruction {
  const evaluate = compileValue(compilation, value)
  return (context) => {
    const assigned = evaluate(context)
    context.bottom()[key] = assigned
  }
}

function compileCapture({ blockOf }: Parts, { templates, variable }: CaptureTag): Instruction {
  const body = blockOf(templates)
  return (context) => {
    const emitter = new CountedEmitter(context.budget.memory)
    context.storedDepth++
    runBlock(body, context, emitter)
    context.storedDepth--
    context.bottom()[variable] = emitter.buffer
  }
}

function compileCase({ compilation, blockOf }: Parts, { value, branches, elseTemplates }: CaseTag): Instruction {
  const evaluate = compileValue(compilation, value)
  const cases = branches.map(({ values, templates }) => ({
    values: values.map((token) => compileToken(compilation, token)),
    body: blockOf(templates),
  }))
  const otherwise = blockOf(elseTemplates)
  return (context, emitter) => {
    const target = toValue(evaluate(context))
    let isHit = false
    // Every branch that matches is rendered.
    for (const { values, body } of cases) {
      if (!values.some((value) => equals(target, value(context)))) continue
      runBlock(body, context, emitter)
      isHit = true
    }
    if (!isHit) runBlock(otherwise, context, emitter)
  }
}

function compileCycle({ compilation }: Parts, { candidates, group, token }: Cycling): Instruction {
  const { liquid } = compilation
  const groupOf = compileToken(compilation, group)
  const texts = candidates.map((candidate) => candidate.getText()).join(',')
  const values = candidates.map((candidate): Evaluate => {
    // A filter that does not exist fails when the value is due, and not when the template is parsed.
    if (candidate.filters.some(({ name }) => !liquid.filters[name])) return () => new Value(candidate, liquid)
    return compilePrinted(compilation, new Value(candidate, liquid), token)
  })
  return (context) => {
    const fingerprint = `cycle:${groupOf(context)}:${texts}`
    const groups = context.getRegister<Record<string, number>>('cycle', {})
    const at = groups[fingerprint] ?? 0
    groups[fingerprint] = (at + 1) % values.length
    return (values[at] as Evaluate)(context)
  }
}

function compileDecrement(_: Parts, { variable }: Counting): Instruction {
  return ({ environments }, emitter) => {
    const scope = environments as Record<string, number>
    if (typeof scope[variable] !== 'number') scope[variable] = 0
    emitter.append(String(--(scope[variable] as number)))
  }
}

function compileIncrement(_: Parts, { variable }: Counting): Instruction {
  return ({ environments }, emitter) => {
    const scope = environments as Record<string, number>
    if (typeof scope[variable] !== 'number') scope[variable] = 0
    const value = scope[variable] as number
    ;(scope[variable] as number)++
    emitter.append(String(value))
  }
}

function compileEcho({ compilation }: Parts, { value, token }: Echoing): Instruction {
  if (!value) return NOTHING
  const evaluate = compilePrinted(compilation, value, token)
  return (context, emitter) => emitter.write(evaluate(context))
}

type Branch = { value: Evaluate; body: Block; isMet: (value: unknown) => boolean }

const compileIf = (parts: Parts, { branches, elseTemplates }: IfTag): Instruction =>
  compileBranches(
    parts,
    branches.map((branch) => ({ ...branch, isMet: isTruthy })),
    elseTemplates ?? [],
  )

/** The first branch of `unless` is rendered if its condition does not hold; those of `elsif` if theirs do. */
const compileUnless = (parts: Parts, { branches, elseTemplates }: UnlessTag): Instruction =>
  compileBranches(
    parts,
    branches.map((branch, at) => ({ ...branch, isMet: at === 0 ? isFalsy : isTruthy })),
    elseTemplates,
  )

const isFalsy = (value: unknown): boolean => !isTruthy(value)

function compileBranches(
  { compilation, blockOf }: Parts,
  given: (Pick<Branch, 'isMet'> & IfTag['branches'][number])[],
  elseTemplates: IfTag['branches'][number]['templates'],
): Instruction {
  const branches = given.map(({ value, templates, isMet }): Branch => {
    return { value: compileValue(compilation, value), body: blockOf(templates), isMet }
  })
  const otherwise = blockOf(elseTemplates)
  return (context, emitter) => {
    const branch = branches.find(({ value, isMet }) => isMet(value(context)))
    runBlock(branch ? branch.body : otherwise, context, emitter)
  }
}

function compileLiquid({ blockOf }: Parts, { templates }: LiquidTag): Instruction {
  const body = blockOf(templates)
  return (context, emitter) => runBlock(body, context, emitter)
}

function compileRaw(_: Parts, { tokens }: Verbatim): Instruction {
  const text = tokens.map((token) => token.getText()).join('')
  return (_, emitter) => emitter.append(text)
}

const compilers = new Map<unknown, (parts: Parts, tag: never) => Instruction>([
  [AssignTag, compileAssign],
  [BreakTag, () => breakLoop],
  [CaptureTag, compileCapture],
  [CaseTag, compileCase],
  [CommentTag, () => NOTHING],
  [ContinueTag, () => continueLoop],
  [CycleTag, compileCycle],
  [DecrementTag, compileDecrement],
  [EchoTag, compileEcho],
  [ForTag, compileFor],
  [IfTag, compileIf],
  [IncrementTag, compileIncrement],
  [InlineCommentTag, () => NOTHING],
  [LiquidTag, compileLiquid],
  [RawTag, compileRaw],
  [TablerowTag, compileTablerow],
  [UnlessTag, compileUnless],
])

/** The instruction of a tag. A tag of an unknown class is left to liquidjs, with its template. */
export function compileTag(parts: Parts, tag: Tag): Instruction {
  const compile = compilers.get(tag.constructor)
  return compile ? compile(parts, tag as never) : parts.compilation.unknown(NOTHING)
}
