/**
 * Paths in Liquid have the grammar of attribute paths (D-F-12): `user.data.a\.b` reads the key `a.b`, as `user.data["a.b"]` does. The
 * engine has no setting for what a name is, so a method of its tokenizer is replaced, by which it reads the names of every path.
 */
import {
  type FilterImplOptions,
  LiquidError,
  type NumberToken,
  type PropertyAccessToken,
  type QuotedToken,
  Tokenizer,
  TokenKind,
  Variable,
} from 'liquidjs'
import { escapedKey, keysIn } from '../attribute-paths.ts'

Tokenizer.prototype.readNonEmptyIdentifier = function (this: Tokenizer) {
  const name = this.readIdentifier()
  // An escape continues a name, or begins one after a dot. Elsewhere a backslash stays an error.
  const isEscapable = name.size() > 0 || this.input[this.p - 1] === '.'
  if (!isEscapable || !isEscape(this)) return name.size() > 0 ? name : undefined
  while (isEscape(this)) {
    this.advance(2)
    const [at, more] = [this.p, this.readIdentifier()]
    // Blanks end a name.
    if (more.begin !== at) this.p = at
  }
  name.end = this.p
  name.content = keysIn(name.getText()).join('.')
  return name
}

const isEscape = (text: Tokenizer): boolean => text.peek() === '\\' && (text.peek(1) === '.' || text.peek(1) === '\\')

/** A key that Liquid can read without brackets, once it is escaped. */
const PLAIN = /^[\p{L}\p{N}_.\\?-]+$/u

/** A variable as it is written in Liquid. A dot in a key is escaped, whether the author wrote that or brackets. */
export function pathOfVariable({ segments: [root, ...rest] }: Pick<Variable, 'segments'>): string {
  return `${typeof root === 'string' && PLAIN.test(root) ? escapedKey(root) : bracketed(root)}${rest.map(member).join('')}`
}

const member = (segment: unknown): string =>
  typeof segment === 'string' && PLAIN.test(segment) ? `.${escapedKey(segment)}` : bracketed(segment)

const bracketed = (segment: unknown): string =>
  segment instanceof Variable ? `[${pathOfVariable(segment)}]` : typeof segment === 'string' ? `['${segment}']` : `[${segment}]`

/** The names in a Liquid path such as `user.data["first name"]`; null if it is not a path, or contains another variable. */
export function namesOfPath(path: string): string[] | null {
  try {
    return namesIn(path)
  } catch (error) {
    if (LiquidError.is(error)) return null
    throw error
  }
}

/** They end before the first number. */
function namesIn(path: string): string[] | null {
  const props = propsOf(path)
  if (!props) return null
  const end = props.findIndex(({ kind }) => kind === TokenKind.Number)
  return (end === -1 ? props : props.slice(0, end)).map(contentOf) as string[]
}

/** A valid path as findings and preflights write it. */
export const canonicalPath = (path: string): string => pathOfVariable({ segments: (propsOf(path) ?? []).map(contentOf) })

const contentOf = (prop: PropertyAccessToken['props'][number]) => (prop as QuotedToken | NumberToken).content

function propsOf(path: string): PropertyAccessToken['props'] | null {
  const token = new Tokenizer(path).readValue()
  if (token?.kind !== TokenKind.PropertyAccess) return null
  const { variable, props } = token as PropertyAccessToken
  const written = props.map((prop, at) => (prop.kind === TokenKind.Word ? `${at > 0 ? '.' : ''}${prop.getText()}` : `[${prop.getText()}]`))
  return variable || written.join('') !== path || props.some(({ kind }) => kind === TokenKind.PropertyAccess) ? null : props
}

export type FilterHandler = Extract<FilterImplOptions, CallableFunction>

/** `sort` by a property that is a path with an escape. The engine’s filter splits its argument at every dot. */
export const sortedByPath = (sort: FilterHandler): FilterHandler =>
  function* (this: ThisParameterType<FilterHandler>, list: unknown, property: unknown): Generator<unknown, unknown, unknown> {
    if (typeof property !== 'string' || !property.includes('\\') || !Array.isArray(list)) return yield sort.call(this, list, property)
    const pairs: { item: unknown; value: unknown }[] = []
    for (const item of list) pairs.push({ item, value: yield this.context._getFromScope(item, property, false) })
    const sorted = (yield sort.call(this, pairs, 'value')) as typeof pairs
    return sorted.map(({ item }) => item)
  }
