/** What worker threads do for campaigns. */
import { task } from '../../infra/threads/task.ts'
import type { Channel } from '../../lib/channels.ts'
import { LiquidError, type Scope } from '../../lib/liquid/liquid.ts'
import type { Contact } from '../channels/index.ts'
import type { SendableTemplate } from '../templates/index.ts'
import { renderContent, segmentsOf } from '../templates/tasks.ts'
import { type PreflightResult, preflightMessage } from './preflight/preflight-message.ts'
import type { TextSize } from './text-sizes/summary.ts'

/** What the messages of a preflight share. */
type Shared = { channel: Channel; templates: SendableTemplate[] }
/** A message by the index of its template, -1 if there is none. */
type Input = { template: number; scope: Scope; user: Contact }

/** Renders the messages of users without sending them. */
export const preflightUser = task({
  name: 'campaigns.preflightUser',
  run: (_, { channel, templates }: Shared, { template, scope, user }: Input): PreflightResult =>
    preflightMessage(channel, templates[template], scope, user),
})

/** Renders a text message, and measures it; null if that fails. */
export const measureText = task({
  name: 'campaigns.measureText',
  run(_, { templates }: { templates: SendableTemplate[] }, { template, scope }: { template: number; scope: Scope }): TextSize | null {
    const chosen = templates[template]
    if (!chosen) return null
    try {
      const { encoding, characters, segments } = segmentsOf(String(renderContent('text', chosen.content, scope, chosen.required).body))
      return { encoding, characters, segments }
    } catch (error) {
      if (!(error instanceof LiquidError)) throw error
      return null
    }
  },
})
