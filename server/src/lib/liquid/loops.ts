/** The loops of Liquid as closures: `for` and `tablerow`. */
import { Drop, type ForTag, type TablerowTag, toValue } from 'liquidjs'
import { type Instruction, type Parts, runBlock } from './blocks.ts'
import { compileHash, compileToken } from './values.ts'

/** What a template reads as `forloop`. The order of its members shows when it is printed. */
class ForloopDrop extends Drop {
  i = 0
  length: number
  name: string
  constructor(length: number, collection: string, variable: string) {
    super()
    this.length = length
    this.name = `${variable}-${collection}`
  }

  next(): void {
    this.i++
  }

  index0(): number {
    return this.i
  }

  index(): number {
    return this.i + 1
  }

  first(): boolean {
    return this.i === 0
  }

  last(): boolean {
    return this.i === this.length - 1
  }

  rindex(): number {
    return this.length - this.i
  }

  rindex0(): number {
    return this.length - this.i - 1
  }

  override valueOf(): string {
    return JSON.stringify(this)
  }
}

/** What a template reads as `tablerowloop`. */
class TablerowloopDrop extends ForloopDrop {
  cols: number
  constructor(length: number, cols: number, collection: string, variable: string) {
    super(length, collection, variable)
    this.cols = cols
  }

  row(): number {
    return Math.floor(this.i / this.cols) + 1
  }

  col0(): number {
    return this.i % this.cols
  }

  col(): number {
    return this.col0() + 1
  }

  col_first(): boolean {
    return this.col0() === 0
  }

  col_last(): boolean {
    return this.col() === this.cols
  }
}

/** A scope of a tag. It has no prototype, so that only what is in it is found. */
const createScope = <T extends object>(members: T): T & Record<string, unknown> => Object.assign(Object.create(null), members)

export function compileFor({ compilation, blockOf }: Parts, { variable, collection, hash, templates, elseTemplates }: ForTag): Instruction {
  const list = compileToken(compilation, collection)
  const parameters = compileHash(compilation, hash)
  const [body, otherwise] = [blockOf(templates), blockOf(elseTemplates)]
  const text = collection.getText()
  const register = `continue-${variable}-${text}`
  return (context, emitter) => {
    const all = itemsOf(list(context))
    if (all.length === 0) return runBlock(otherwise, context, emitter)
    // `offset: continue` reads where the last loop over the same list ended.
    context.push(createScope({ continue: context.getRegister<unknown>(register, {}) }))
    const given = parameters(context)
    context.pop()
    const items = selected(all, given)
    context.setRegister(register, ((given.offset || 0) as number) + items.length)
    const scope = createScope({ forloop: new ForloopDrop(items.length, text, variable) })
    context.push(scope)
    for (const item of items) {
      scope[variable] = item as never
      context.continueCalled = context.breakCalled = false
      runBlock(body, context, emitter)
      if (context.breakCalled) break
      scope.forloop.next()
    }
    context.continueCalled = context.breakCalled = false
    context.pop()
  }
}

/** The parameters are applied in a fixed order. One of any value reverses. */
function selected(all: unknown[], { offset, limit, reversed }: Record<string, unknown>): unknown[] {
  let items = all
  if (offset !== undefined) items = items.slice(offset as number)
  if (limit !== undefined) items = items.slice(0, limit as number)
  return reversed === undefined ? items : [...items].reverse()
}

export function compileTablerow({ compilation, blockOf }: Parts, { variable, collection, args, templates }: TablerowTag): Instruction {
  const list = compileToken(compilation, collection)
  const parameters = compileHash(compilation, args)
  const body = blockOf(templates)
  const text = collection.getText()
  return (context, emitter) => {
    const all = itemsOf(list(context))
    const given = parameters(context) as Record<string, number | undefined>
    const offset = given.offset || 0
    const limit = given.limit === undefined ? all.length : given.limit
    const items = all.slice(offset, offset + limit)
    const tablerowloop = new TablerowloopDrop(items.length, given.cols || items.length, text, variable)
    const scope = createScope({ tablerowloop })
    context.push(scope)
    for (const item of items) {
      scope[variable] = item as never
      if (tablerowloop.col0() === 0) {
        if (tablerowloop.row() !== 1) emitter.append('</tr>')
        emitter.append(`<tr class="row${tablerowloop.row()}">`)
      }
      emitter.append(`<td class="col${tablerowloop.col()}">`)
      runBlock(body, context, emitter)
      emitter.append('</td>')
      tablerowloop.next()
    }
    if (items.length > 0) emitter.append('</tr>')
    context.pop()
  }
}

/** What a loop runs over: the items of a list, the pairs of an object, or one text. */
function itemsOf(given: unknown): unknown[] {
  const value = toValue(given) as unknown
  if (Array.isArray(value)) return value
  if (typeof value === 'string' && value.length > 0) return [value]
  if (typeof value !== 'object' || value === null) return []
  if (Symbol.iterator in value) return Array.from(value as Iterable<unknown>)
  return Object.keys(value).map((key) => [key, (value as Record<string, unknown>)[key]])
}
