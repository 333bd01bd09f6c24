import type { MessageId } from '../../../lib/ids.ts'
import type { Engagement } from '../schema.ts'

/** Clicks this close together are judged together. */
export const BURST_MS = 2000
const BURST_LINKS = 3
const BURST_CLICKS = 10

export type Bursts = {
  /** Takes a click in. When with it too many links of one message were followed at once, or one too often, a machine made those clicks. */
  add(click: Engagement): void
  /** Forgets the clicks that nothing later can make part of a burst. */
  forget(now: Date): void
}

/** Finds those who follow every link of a message at once, as people do not. Clicks that are recognised are changed in place. */
export function createBursts(): Bursts {
  const clicks = new Map<MessageId, Engagement[]>()
  return {
    add(click) {
      const near = (clicks.get(click.message_id) ?? []).filter(({ at }) => click.at.getTime() - at.getTime() <= BURST_MS)
      near.push(click)
      clicks.set(click.message_id, near)
      if (near.length <= BURST_CLICKS && new Set(near.map(({ link }) => link)).size < BURST_LINKS) return
      for (const one of near) if (!one.isMachine) Object.assign(one, { isMachine: true, reason: 'burst' })
      if (near.length > BURST_CLICKS) near.shift()
    },
    forget(now) {
      for (const [id, near] of clicks) if (Math.abs(now.getTime() - (near.at(-1)?.at.getTime() ?? 0)) > BURST_MS) clicks.delete(id)
    },
  }
}
