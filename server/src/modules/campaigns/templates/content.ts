/** What templates say: checked when they are written, filled in when a message is made. Pure. */
import type { Fault } from '../../../lib/errors.ts'
import { LiquidError, parseTemplate, renderTemplate } from '../../../lib/liquid.ts'
import type { Channel } from '../../../lib/shapes.ts'
import { type Check, checker } from '../../../lib/validate.ts'
import * as kinds from './index.ts'
import type { TemplateKind } from './template.ts'

export type Content = Record<string, unknown>

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
  return { faults: [...(channels[channel].check?.(content) ?? []), ...liquidFaults(content, '')], content }
}

function liquidFaults(value: unknown, param: string): Fault[] {
  if (typeof value === 'string') return liquidFault(value, param)
  if (typeof value !== 'object' || value === null) return []
  const inner = (name: string) => (Array.isArray(value) ? `${param}[${name}]` : param === '' ? name : `${param}.${name}`)
  return Object.entries(value).flatMap(([name, member]) => liquidFaults(member, inner(name)))
}

function liquidFault(text: string, param: string): Fault[] {
  try {
    parseTemplate(text)
    return []
  } catch (error) {
    if (!(error instanceof LiquidError)) throw error
    const reason = error.message.slice(0, 200)
    return [{ code: 'validation_failed', param, message: `The Liquid of \`${param}\` is wrong on line ${error.line}: ${reason}.` }]
  }
}

/** Fills in every string of a template that was checked; escapes where the channel says HTML. Throws `LiquidError`. */
export function renderContent(channel: Channel, content: Content, scope: Record<string, unknown>): Content {
  const { html } = channels[channel]
  return Object.fromEntries(Object.entries(content).map(([name, value]) => [name, rendered(value, scope, html.includes(name))]))
}

function rendered(value: unknown, scope: Record<string, unknown>, isHtml: boolean): unknown {
  if (typeof value === 'string') return renderTemplate(parseTemplate(value), scope, { escape: isHtml })
  if (Array.isArray(value)) return value.map((item) => rendered(item, scope, isHtml))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rendered(member, scope, isHtml)]))
}
