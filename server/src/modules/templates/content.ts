/** What templates say: checked and compiled when they are written, filled in when a message is made. Pure. */
import type { Fault } from '../../lib/errors.ts'
import { LiquidError, liquidTags, MissingVariable, parseTemplate, type Scope } from '../../lib/liquid.ts'
import { namesOfPath } from '../../lib/liquid-variables.ts'
import type { Channel } from '../../lib/shapes.ts'
import { type Check, checker } from '../../lib/validate.ts'
import { compileHtml } from './compile-email.ts'
import * as kinds from './kinds/index.ts'
import type { Compiled, TemplateKind } from './kinds/template.ts'
import type { Content } from './schema.ts'

/** Each takes its time for everybody a message goes to, and more when the template is examined. */
const TAGS_MAX = 3000

const channels: Record<Channel, TemplateKind> = kinds
const checks = Object.fromEntries(Object.entries(channels).map(([name, { shape }]) => [name, checker(shape)])) as Record<
  Channel,
  Check<unknown>
>

/** Is this a template of the channel, and is every string in it Liquid? Trims what is trimmed. */
export function checkContent(channel: Channel, given: unknown): { faults: Fault[]; content: Content } {
  const { faults, value } = checks[channel](given)
  const content = value as Content
  if (faults.length > 0) return { faults, content }
  const { required = [], ...members } = content
  return {
    faults: [...(channels[channel].check?.(content) ?? []), ...requiredFaults(required as string[]), ...liquidFaults(members, '')],
    content,
  }
}

function requiredFaults(paths: string[]): Fault[] {
  return paths.flatMap((path, at) => {
    if (namesOfPath(path) !== null) return []
    const param = `required[${at}]`
    return [
      { code: 'parameter_invalid_format', param, message: `The value of \`${param}\` must be a variable such as \`user.data.plan\`.` },
    ]
  })
}

function liquidFaults(value: unknown, param: string): Fault[] {
  if (typeof value === 'string') return liquidFault(value, param)
  if (typeof value !== 'object' || value === null) return []
  const inner = (name: string) => (Array.isArray(value) ? `${param}[${name}]` : param === '' ? name : `${param}.${name}`)
  return Object.entries(value).flatMap(([name, member]) => liquidFaults(member, inner(name)))
}

function liquidFault(text: string, param: string): Fault[] {
  try {
    parseTemplate(text, { escape: false })
    if (liquidTags(text).length <= TAGS_MAX) return []
    return [{ code: 'validation_failed', param, message: `The parameter \`${param}\` may have at most ${TAGS_MAX} Liquid tags.` }]
  } catch (error) {
    if (!(error instanceof LiquidError)) throw error
    const reason = error.message.slice(0, 200)
    return [{ code: 'validation_failed', param, message: `The Liquid of \`${param}\` is wrong on line ${error.line}: ${reason}.` }]
  }
}

/** Makes the members that are made when a template is saved; the content must have been checked. */
export async function compileContent(channel: Channel, content: Content): Promise<{ compiled: Compiled } | { faults: Fault[] }> {
  return (await channels[channel].compile?.(content)) ?? { compiled: {} }
}

/** A template as it is stored. Those from before there was a compiler are mails in HTML. */
type Stored = { data: Content; compiled: Content | null }

/** What is rendered for people: the members that were compiled in the place of their sources. */
export function contentOf({ data, compiled }: Stored): Content {
  const { mjml: _, required: __, ...members } = data
  return { ...members, ...(compiled ?? compileHtml(data as { html: string })) }
}

/** The variables that a template cannot do without. */
export const requiredOf = ({ data }: Pick<Stored, 'data'>): readonly string[] => (data.required as string[] | undefined) ?? []

type Filling = (scope: Scope) => unknown

// By the object, so that a template that a sender holds on to is read once for all its people.
const fillings = new WeakMap<Content, [name: string, fill: Filling][]>()
const requirements = new WeakMap<readonly string[], { path: string; names: string[] }[]>()

/**
 * Fills in every string of a template's content; escapes where the channel says HTML. Throws `MissingVariable` for a required
 * variable that is empty, and `LiquidError`.
 */
export function renderContent(channel: Channel, content: Content, scope: Scope, required: readonly string[] = []): Content {
  if (required.length > 0) requireAll(required, scope)
  const filled: Content = {}
  for (const [name, fill] of fillingsOf(channel, content)) filled[name] = fill(scope)
  return filled
}

function fillingsOf(channel: Channel, content: Content): [string, Filling][] {
  const known = fillings.get(content)
  if (known) return known
  const { html } = channels[channel]
  const made = Object.entries(content).map(([name, value]): [string, Filling] => [name, fillingOf(value, html.includes(name))])
  fillings.set(content, made)
  return made
}

function fillingOf(value: unknown, isHtml: boolean): Filling {
  if (typeof value === 'string') return parseTemplate(value, { escape: isHtml }).render
  if (Array.isArray(value)) {
    const items = value.map((item) => fillingOf(item, isHtml))
    return (scope) => items.map((fill) => fill(scope))
  }
  if (typeof value !== 'object' || value === null) return () => value
  const members = Object.entries(value).map(([name, member]): [string, Filling] => [name, fillingOf(member, isHtml)])
  return (scope) => Object.fromEntries(members.map(([name, fill]) => [name, fill(scope)]))
}

function requireAll(required: readonly string[], scope: Scope): void {
  const wanted = requirements.get(required) ?? required.map((path) => ({ path, names: namesOfPath(path) ?? [] }))
  requirements.set(required, wanted)
  for (const { path, names } of wanted) if (isEmpty(valueAt(scope, names))) throw new MissingVariable(path)
}

function valueAt(scope: Scope, names: string[]): unknown {
  let value: unknown = scope
  for (const name of names)
    value = typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? value[name as never] : undefined
  return value
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && value.trim() === '') ||
  (Array.isArray(value) && value.length === 0)
