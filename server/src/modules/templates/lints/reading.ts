/** How lints read templates. */
import { hasLiquid, LiquidError, parseTemplate, type Scope } from '../../../lib/liquid/liquid.ts'
import { type HtmlTag, readHtml } from '../../../lib/markup/html-reader.ts'
import { type MaskedText, maskLiquid, maskNothing } from '../../../lib/markup/liquid-mask.ts'
import { lineCounter } from '../../../lib/text.ts'
import type { Linted } from './lint.ts'

type Read = Pick<Linted, 'written' | 'isRendered'>

/** Every string of a template, with its position. */
export function textsOf(value: unknown, param = ''): { param: string; text: string }[] {
  if (typeof value === 'string') return [{ param, text: value }]
  if (typeof value !== 'object' || value === null) return []
  const inner = (name: string) => (Array.isArray(value) ? `${param}[${name}]` : param === '' ? name : `${param}.${name}`)
  return Object.entries(value).flatMap(([name, member]) => (param === '' && name === 'required' ? [] : textsOf(member, inner(name))))
}

/** An element of HTML or MJML. */
export type Element = {
  param: string
  name: string
  line: number
  attribute(name: string): string | undefined
  /** Several where each branch of a condition has its own. */
  values(name: string): string[]
}

/** The members in which there are elements. */
const MARKUP = ['html', 'mjml']

/** The elements of a template, as they were written. Liquid in their attributes stays as it is. */
export const elementsOf = ({ written, isRendered }: Read): Element[] =>
  MARKUP.flatMap((param) => {
    const text = written[param]
    return typeof text === 'string' ? elementsIn(param, text, maskedFor(isRendered, text)) : []
  })

/** A text with its Liquid masked, of which a rendered one has none. */
export const maskedFor = (isRendered: boolean, text: string): MaskedText => (isRendered ? maskNothing(text) : maskLiquid(text))

/** A text as a user with this scope gets it; null if it cannot be rendered. */
export function renderedFor(isRendered: boolean, text: string, scope: Scope): string | null {
  if (isRendered) return text
  try {
    return parseTemplate(text, { escape: false }).render(scope)
  } catch (error) {
    if (error instanceof LiquidError) return null
    throw error
  }
}

function elementsIn(param: string, text: string, masked: MaskedText): Element[] {
  const lineOf = lineCounter(text)
  return readHtml(masked).flatMap((token) =>
    token.kind === 'tag' && !token.isEnd ? [elementOf(param, masked, token, lineOf(masked.sourceOffset(token.begin)))] : [],
  )
}

function elementOf(param: string, { unmask }: MaskedText, { name, attributes }: HtmlTag, line: number): Element {
  const values = (name: string) => attributes.filter((attribute) => attribute.name === name).map(({ value }) => unmask(value).trim())
  return { param, name, line, attribute: (name) => values(name)[0], values }
}

/** Elements that a reader can press, in HTML and MJML. */
export const LINKS = new Set(['a', 'area', 'mj-button', 'mj-image', 'mj-navbar-link', 'mj-social-element', 'mj-carousel-image'])

/** Whether the whole value of this member is a URL, and not markup. */
export const isUrlMember = (param: string): boolean => ['url', 'action_url', 'image', 'endpoint'].includes(param)

/** The part of a URL before any Liquid, which is enough to know where it leads. */
export const beginningOf = (text: string): string => (hasLiquid(text) ? text.slice(0, text.search(/\{[{%]/)) : text)
