/** A project as a run sees it: facts from the database, and effects that are written to it. */

import type { Db } from '../../../infra/postgres/db.ts'
import type { Partition } from '../../../infra/queue/partitions.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { StoredEvent } from '../../events/index.ts'
import type { MessageIntent } from '../../messages/index.ts'
import type { Asked } from '../engine/advance.ts'
import type { Occasion } from '../engine/facts.ts'
import type { Ask, World } from '../engine/run.ts'
import type { EffectResult } from '../steps/step.ts'
import { Facts } from './facts.ts'

/** A message that a step asked for. It is inserted when the wave is over, unless its user left meanwhile. */
export type Intended = { asked: Asked; intent: MessageIntent }

/** What a wave works with beside its entrances. */
export type LiveWorld = World & {
  ctx: InTx
  /** For statements outside of the transaction. */
  outside: Db
  partition: Partition
  facts: Facts
  /** Messages of journeys, and events of steps that may trigger campaigns. */
  intended: Intended[]
  stored: StoredEvent[]
}

type Apply = (world: LiveWorld, asked: Asked[]) => Promise<{ results: Map<Asked, EffectResult>; followed: Occasion[] }>

export function openWorld(ctx: InTx, outside: Db, partition: Partition, apply: Apply): LiveWorld {
  const facts = new Facts(ctx)
  const world: LiveWorld = {
    ctx,
    outside,
    partition,
    facts,
    intended: [],
    stored: [],
    loaded: facts.loaded,
    load: (ask: Ask) => facts.load(ask),
    apply: (asked) => apply(world, asked),
  }
  return world
}
