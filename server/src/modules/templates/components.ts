/** The schemas of templates in the API description, one for each channel. */
import type { TSchema } from 'typebox'
import { CHANNELS, channels } from '../../lib/channels.ts'
import { componentRef } from '../../lib/shapes.ts'
import * as kinds from './kinds/index.ts'
import type { TemplateKind } from './kinds/template.ts'

const nameOf = (channel: keyof typeof kinds) =>
  `${channel
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Template`

const KINDS: Record<keyof typeof kinds, TemplateKind> = kinds

/** By the names of components. */
export const templateComponents: Record<string, TSchema> = Object.fromEntries(
  CHANNELS.map((channel) => {
    const { shape } = KINDS[channel]
    return [nameOf(channel), { ...shape, description: `The content for the channel \`${channel}\`: ${channels[channel].label}.` }]
  }),
)

const refs = (names: (keyof typeof kinds)[]) => names.map((name) => componentRef(nameOf(name)))

/** Their contents differ in the members that they must have. */
const APART: (keyof typeof kinds)[] = ['email', 'text', 'webhook']

/**
 * One of the templates. The campaign has the channel, so nothing in the content tells a push message from one in the app, and those two, with
 * channels that come, are a choice of their own.
 */
export const TEMPLATES_DOCUMENTED = {
  oneOf: [...refs(APART), { anyOf: refs(CHANNELS.filter((channel) => !APART.includes(channel))) }],
}
