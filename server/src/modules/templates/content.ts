/** The content of templates: checked and compiled when it is saved, rendered for each message. Pure. */
import type { Fault } from '../../lib/errors.ts'
import { RenderBudget } from '../../lib/liquid/budget.ts'
import { countTags, LiquidError, MissingVariable, parseMarking, parseTemplate, type Scope } from '../../lib/liquid/liquid.ts'
import { canonicalPath, namesOfPath } from '../../lib/liquid/paths.ts'
import { isEmptyVariable } from '../../lib/liquid/variables.ts'
import type { Channel } from '../../lib/shapes.ts'
import { type Check, checker } from '../../lib/validate.ts'
import { compileHtml } from './compile-email.ts'
import * as kinds from './kinds/index.ts'
import { type Compiled, jsonBytes, type Measures, type TemplateKind } from './kinds/template.ts'
import { type MailboxMember, quoteNames } from './mail-names.ts'
import type { Content } from './schema.ts'

/** Of a template as a whole. Tags cost time for each message, and more when a template is linted. */
const TAGS_MAX = 3000

const channels: Record<Channel, TemplateKind> = kinds
const checks = Object.fromEntries(Object.entries(channels).map(([name, { shape }]) => [name, checker(shape)])) as Record<
  Channel,
  Check<unknown>
>

/** Checks content against the template kind of the channel, and its Liquid. Returns it with its strings trimmed. */
export function checkContent(channel: Channel, given: unknown): { faults: Fault[]; content: Content } {
  const { faults, value } = checks[channel](given)
  const content = value as Content
  if (faults.length > 0) return { faults, content }
  const { required = [], ...members } = content
  const texts = textsIn(members, '')
  const many = tagFaults(texts)
  if (many.length > 0) return { faults: many, content }
  return {
    faults: [
      ...(channels[channel].check?.(content) ?? []),
      ...requiredFaults(required as string[]),
      ...texts.flatMap(({ text, param }) => liquidFault(text, param)),
    ],
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

type Text = { param: string; text: string }

function textsIn(value: unknown, param: string): Text[] {
  if (typeof value === 'string') return [{ param, text: value }]
  if (typeof value !== 'object' || value === null) return []
  const inner = (name: string) => (Array.isArray(value) ? `${param}[${name}]` : param === '' ? name : `${param}.${name}`)
  return Object.entries(value).flatMap(([name, member]) => textsIn(member, inner(name)))
}

/** Checked before anything is parsed. The fault names the member that has most of them. */
function tagFaults(texts: Text[]): Fault[] {
  const counted = texts.map(({ param, text }) => ({ param, tags: countTags(text) }))
  if (counted.reduce((sum, { tags }) => sum + tags, 0) <= TAGS_MAX) return []
  const { param } = counted.reduce((most, one) => (one.tags > most.tags ? one : most))
  return [
    { code: 'validation_failed', param, message: `A template may have at most ${TAGS_MAX} Liquid tags. Remove some from \`${param}\`.` },
  ]
}

function liquidFault(text: string, param: string): Fault[] {
  try {
    parseTemplate(text, { escape: false })
    return []
  } catch (error) {
    if (!(error instanceof LiquidError)) throw error
    const reason = error.message.slice(0, 200)
    return [{ code: 'validation_failed', param, message: `The Liquid in \`${param}\` is invalid on line ${error.line}: ${reason}.` }]
  }
}

/** Compiles checked content for a locale when a template is saved. */
export async function compileContent(
  channel: Channel,
  content: Content,
  locale: string,
): Promise<{ compiled: Compiled } | { faults: Fault[] }> {
  return (await channels[channel].compile?.(content, locale)) ?? { compiled: {} }
}

/** The size of rendered content, and what else its channel measures. */
export const measure = (channel: Channel, content: Content): Measures =>
  channels[channel].measure?.(content) ?? { size_bytes: jsonBytes(content) }

/** A stored template. Emails in HTML that were saved by old versions have no compiled content. */
type Stored = { locale: string; data: Content; compiled: Content | null }

/** The content that is rendered: compiled members replace their sources. */
export function contentOf({ locale, data, compiled }: Stored): Content {
  const { mjml: _, required: __, ...members } = data
  return { ...members, ...(compiled ?? compileHtml(data as { html: string }, locale)) }
}

/** The variables that must not be empty. */
export const requiredOf = ({ data }: Pick<Stored, 'data'>): readonly string[] => (data.required as string[] | undefined) ?? []

type Renderer = (scope: Scope, budget: RenderBudget) => unknown

// Keyed by the object, so that a sender parses a template once for all its messages.
const renderers = new WeakMap<Content, [name: string, render: Renderer][]>()
const requirements = new WeakMap<readonly string[], { path: string; names: string[] }[]>()

/**
 * Renders every string of a template's content within one budget, and escapes values in members that are HTML. Throws `MissingVariable`
 * if a required variable is empty, and `LiquidError`.
 */
export function renderContent(channel: Channel, content: Content, scope: Scope, required: readonly string[] = []): Content {
  if (required.length > 0) requireAll(required, scope)
  const budget = new RenderBudget()
  const rendered: Content = {}
  for (const [name, render] of renderersOf(channel, content)) rendered[name] = render(scope, budget)
  return rendered
}

function renderersOf(channel: Channel, content: Content): [string, Renderer][] {
  const known = renderers.get(content)
  if (known) return known
  const { html, mailboxes = {} } = channels[channel]
  const created = Object.entries(content).map(([name, value]): [string, Renderer] => {
    const member = mailboxes[name]
    return [name, member && typeof value === 'string' ? mailboxRenderer(value, member) : rendererOf(value, html.includes(name))]
  })
  renderers.set(content, created)
  return created
}

function mailboxRenderer(text: string, member: MailboxMember): Renderer {
  const { render } = parseMarking(text)
  return (scope, budget) => quoteNames(render({ ...scope }, budget), member)
}

/** Counters of `increment` are written into the scope, so each text has a copy: else those of the HTML would run on in the plain text. */
function textRenderer(text: string, isHtml: boolean): Renderer {
  const { render } = parseTemplate(text, { escape: isHtml })
  return (scope, budget) => render({ ...scope }, budget)
}

function rendererOf(value: unknown, isHtml: boolean): Renderer {
  if (typeof value === 'string') return textRenderer(value, isHtml)
  if (Array.isArray(value)) {
    const items = value.map((item) => rendererOf(item, isHtml))
    return (scope, budget) => items.map((render) => render(scope, budget))
  }
  if (typeof value !== 'object' || value === null) return () => value
  const members = Object.entries(value).map(([name, member]): [string, Renderer] => [name, rendererOf(member, isHtml)])
  return (scope, budget) => Object.fromEntries(members.map(([name, render]) => [name, render(scope, budget)]))
}

function requireAll(required: readonly string[], scope: Scope): void {
  const variables = requirements.get(required) ?? required.map((path) => ({ path: canonicalPath(path), names: namesOfPath(path) ?? [] }))
  requirements.set(required, variables)
  for (const { path, names } of variables) if (isEmptyVariable(scope, names)) throw new MissingVariable(path)
}
