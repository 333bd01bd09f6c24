/** How lints read templates. */
import { hasLiquid } from '../../../lib/liquid.ts'
import { attributeOf, decode, htmlTokens, type Tag } from '../markup/html-tokens.ts'
import { maskLiquid, type Shielded } from '../markup/liquid-mask.ts'

/** Every string of a template, with where it stands. */
export function textsOf(value: unknown, param = ''): { param: string; text: string }[] {
  if (typeof value === 'string') return [{ param, text: value }]
  if (typeof value !== 'object' || value === null) return []
  const inner = (name: string) => (Array.isArray(value) ? `${param}[${name}]` : param === '' ? name : `${param}.${name}`)
  return Object.entries(value).flatMap(([name, member]) => (param === '' && name === 'required' ? [] : textsOf(member, inner(name))))
}

/** An element of HTML or MJML. */
type Element = { param: string; name: string; line: number; attribute(name: string): string | undefined }

/** The members in which there are elements. */
const MARKUP = ['html', 'mjml']

/** The elements of a template, as they were written. Liquid in their attributes stays as it is. */
export function elementsOf(content: Record<string, unknown>): Element[] {
  return MARKUP.flatMap((param) => (typeof content[param] === 'string' ? elementsIn(param, content[param]) : []))
}

function elementsIn(param: string, text: string): Element[] {
  const shielded = maskLiquid(text)
  const elements: Element[] = []
  let line = 1
  let counted = 0
  for (const token of htmlTokens(shielded.text)) {
    if (token.kind !== 'tag' || token.isEnd) continue
    line += shielded.text.slice(counted, token.begin).split('\n').length - 1
    counted = token.begin
    elements.push(elementOf(param, shielded, token, line))
  }
  return elements
}

const elementOf = (param: string, { lineOf, restore }: Shielded, tag: Tag, line: number): Element => ({
  param,
  name: tag.name,
  line: lineOf(line),
  attribute(name) {
    const value = attributeOf(tag, name)
    return value === undefined ? undefined : restore(decode(value)).trim()
  },
})

/** Elements that somebody can press, in HTML and MJML. */
export const LINKS = new Set(['a', 'area', 'mj-button', 'mj-image', 'mj-navbar-link', 'mj-social-element', 'mj-carousel-image'])

/** Of a member that is an address as a whole, and not markup. */
export const isUrlMember = (param: string): boolean => ['url', 'action_url', 'image', 'endpoint'].includes(param)

/** What comes before any Liquid: enough to know where an address leads to. */
export const beginningOf = (text: string): string => (hasLiquid(text) ? text.slice(0, text.search(/\{[{%]/)) : text)
