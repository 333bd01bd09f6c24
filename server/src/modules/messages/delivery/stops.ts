/**
 * Tells whether email was stopped since it passed the gate, by its campaign or by a pause. It may have waited for its site for minutes, so this
 * is asked when it is its turn, and again while it waits for a connection.
 */
import { jointViews } from '../../../infra/postgres/joint.ts'
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { gathered } from '../../../infra/runtime/gathered.ts'
import { distinct } from '../../../lib/shapes.ts'
import { SECOND_MS } from '../../../lib/times.ts'
import { findPauses, type MailRow } from '../../mta/index.ts'
import type { SendingCampaign } from '../eligibility.ts'
import type { FindSendingCampaigns } from '../sending/find-sending-campaigns.ts'
import { mayPass, pausesOf } from './gate.ts'

/** Email that is about to go to a site. */
type Watched = { ctx: ProjectCtx; mail: Pick<MailRow, 'campaign_id'>; site: string; askedAt: number; isStopped: boolean }

export type Stops = {
  /**
   * Asks whether email is stopped, together with others, and goes on doing so until it is disposed of. Nothing is locked: email whose first
   * answer is no was claimed before any stop that commits afterwards, which counts it when it has committed.
   */
  watch(ctx: ProjectCtx, mail: MailRow, site: string): Promise<Disposable & { isStopped(): boolean }>
}

const ASKED_EVERY_MS = SECOND_MS

export function createStops(findSendingCampaigns: FindSendingCampaigns): Stops {
  const watched = new Set<Watched>()
  const find = gathered<Watched, true>(async (_, some) => {
    const stopped = await stoppedAmong(findSendingCampaigns, some)
    return new Map(stopped.map((one) => [one, true as const]))
  })
  let isOver = new AbortController()

  /** Asks about what has been under way for a while, such as to a slow host. */
  async function keepAsking({ clock, log }: Ctx, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await clock.sleep(ASKED_EVERY_MS, over)
      const now = clock.now().getTime()
      const some = [...watched].filter(({ askedAt, isStopped }) => !isStopped && askedAt <= now - ASKED_EVERY_MS)
      if (some.length === 0) continue
      try {
        for (const one of await stoppedAmong(findSendingCampaigns, some)) one.isStopped = true
        for (const one of some) one.askedAt = now
      } catch (error) {
        log.warn({ err: error }, 'could not find out whether email was stopped')
      }
    }
  }

  return {
    async watch(ctx, mail, site) {
      const one: Watched = { ctx, mail, site, askedAt: ctx.clock.now().getTime(), isStopped: false }
      one.isStopped = (await find(ctx, one)) ?? false
      watched.add(one)
      if (watched.size === 1) {
        isOver = new AbortController()
        void keepAsking(ctx, isOver.signal)
      }
      return {
        isStopped: () => one.isStopped,
        [Symbol.dispose]() {
          watched.delete(one)
          // With a reason, because without one an error is made with its stack.
          if (watched.size === 0) isOver.abort('over')
        },
      }
    },
  }
}

const viewOf = jointViews()

/** Those of these emails that the gate would not let pass now. All projects share two statements. */
async function stoppedAmong(findSendingCampaigns: FindSendingCampaigns, some: readonly Watched[]): Promise<Watched[]> {
  const byProject = Map.groupBy(some, ({ ctx }) => ctx.projectId)
  const stopped = await Promise.all(
    [...byProject.values()].map(async (some) => {
      const [{ ctx: outer }] = some as [Watched]
      const ctx = { ...outer, db: viewOf(outer.db) }
      const ids = distinct(some.flatMap(({ mail }) => mail.campaign_id ?? []))
      const finding: Promise<SendingCampaign[]> = ids.length === 0 ? Promise.resolve([]) : findSendingCampaigns(ctx, ids)
      const [pauses, campaigns] = await Promise.all([findPauses(ctx), finding])
      const byId = new Map(campaigns.map((one) => [one.id, one]))
      const paused = pausesOf(pauses)
      return some.filter(({ mail, site }) => !mayPass(mail, site, byId, paused))
    }),
  )
  return stopped.flat()
}
