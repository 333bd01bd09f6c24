import type { MessageId } from '../../../lib/ids.ts'
import type { Engagement } from '../schema.ts'

/** Clicks within this time can form a burst. */
export const BURST_MS = 2000
const BURST_LINKS = 3
const BURST_CLICKS = 10

export type Bursts = {
  /** Adds a click. If it completes a burst, of many links of a message or of one link many times, all clicks of the burst are by a bot. */
  add(click: Engagement): void
  /** Removes clicks that are too old for a burst. */
  forget(now: Date): void
}

/** Detects bots that follow all links of a message at once. Their clicks are changed in place. */
export function createBursts(): Bursts {
  const clicks = new Map<MessageId, Engagement[]>()
  return {
    add(click) {
      const near = (clicks.get(click.message_id) ?? []).filter(({ at }) => click.at.getTime() - at.getTime() <= BURST_MS)
      near.push(click)
      clicks.set(click.message_id, near)
      if (near.length <= BURST_CLICKS && new Set(near.map(({ link }) => link)).size < BURST_LINKS) return
      for (const one of near) if (!one.isBot) Object.assign(one, { isBot: true, reason: 'burst' })
      if (near.length > BURST_CLICKS) near.shift()
    },
    forget(now) {
      for (const [id, near] of clicks) if (Math.abs(now.getTime() - (near.at(-1)?.at.getTime() ?? 0)) > BURST_MS) clicks.delete(id)
    },
  }
}
