/** Renders messages of one project and channel in a worker thread. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { Outcome } from '../../../infra/threads/pool.ts'
import type { Channel } from '../../../lib/channels.ts'
import { renderMessage } from '../tasks.ts'
import { type PackedMessage, type RenderedMessage, unpackMessage } from './packed-message.ts'
import type { Prepared } from './prepare.ts'
import type { PreparedTemplate, RenderFailure, RenderInput, SendingProject } from './render.ts'

/** A message to render, with its template. */
export type ToRender = Omit<RenderInput, 'template'> & { template: Prepared }

/**
 * Why a message was not rendered. It is skipped when several before it were stopped, or while this process cannot read what it needs, which
 * `detail` says.
 */
export type Unrendered = RenderFailure | { skipped: true; detail?: string }

/** What came of a message. */
export type RenderOutcome = RenderedMessage | Unrendered

/** Renders messages, in their order, but for those that have failed. Templates and settings are copied to the thread once for all. */
export async function renderMessages(
  ctx: ProjectCtx,
  project: SendingProject,
  channel: Channel,
  messages: (ToRender | Unrendered)[],
): Promise<RenderOutcome[]> {
  const templates: PreparedTemplate[] = []
  const indexes = new Map<Prepared, number>()
  const ready = messages.flatMap((one): RenderInput[] => {
    if (!('template' in one) || 'exceeded' in one.template) return []
    const { template, ...message } = one
    const index = indexes.get(template) ?? templates.push(template) - 1
    indexes.set(template, index)
    return [{ ...message, template: index }]
  })
  const settings = { project: membersOf(project), channel, templates, baseUrl: ctx.baseUrl(), now: ctx.clock.now() }
  const outcomes = await ctx.threads.map(ctx, renderMessage, settings, ready)
  let next = 0
  return messages.map((one) => {
    if (!('template' in one)) return one
    return 'exceeded' in one.template ? stopped(one.template.exceeded) : resultOf(ctx, channel, outcomes[next++])
  })
}

/** Projects have more members, which a thread does not need. */
const membersOf = ({ id, name, locale, timezone, link_wrap_email, link_wrap_push, track_opens_email }: SendingProject): SendingProject => ({
  id,
  name,
  locale,
  timezone,
  link_wrap_email,
  link_wrap_push,
  track_opens_email,
})

function resultOf(
  ctx: ProjectCtx,
  channel: Channel,
  outcome: Outcome<{ result: PackedMessage | RenderFailure; elapsedMs: number }> | undefined,
): RenderOutcome {
  if (!outcome || 'skipped' in outcome) return { skipped: true }
  if ('exceeded' in outcome) return stopped(outcome.exceeded)
  ctx.metrics.messageRendered(channel, outcome.value.elapsedMs)
  const { result } = outcome.value
  return 'problem' in result ? result : unpackMessage(result, outcome.packed)
}

const stopped = (exceeded: string): RenderFailure => ({ problem: `Rendering was stopped, because ${exceeded}.`, isOverBudget: true })
