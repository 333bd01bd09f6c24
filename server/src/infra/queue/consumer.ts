/** What a queue of accepted requests asks of the code that applies them. */
import type { ProjectId, UserId } from '../../lib/ids.ts'
import type { Ctx, InTx, ProjectCtx } from '../runtime/ctx.ts'
import type { Partition } from './partitions.ts'
import type { ParkedItem, QueueEntry } from './queue.ts'

/** An item, with what is stored of it when it is parked. */
export type QueuedItem = { source: Omit<ParkedItem, 'reason'> }

/** Work of a user that is due by itself, such as a timer. It has no entry: what stores it deletes it with its effects. */
export type DueWork = { userId: UserId }

/**
 * How the items of a queue are read and applied. `K` is what is looked up for a batch before it is divided, `D` is work that is due at an
 * instant instead of waiting in an entry.
 */
export type Consumer<I extends QueuedItem, K, D extends DueWork> = {
  contextOf(ctx: Ctx, projectId: ProjectId): Promise<ProjectCtx>
  /** Takes the locks that applying a batch waits for, if they are free. False: the project is applied by itself, where it may wait. */
  tryLock(ctx: InTx<Ctx>, projectId: ProjectId): Promise<boolean>
  /** Reads what applying a batch of the project will ask for, whatever is in it. It is sent with the claim. */
  readAhead(ctx: InTx<Ctx>, projectId: ProjectId): Promise<unknown>
  /** The items of an entry, in order. Those that this release cannot read have their places among them, with the reasons. */
  read(entry: QueueEntry): (I | ParkedItem)[]
  /** `cacheable` is false in a transaction whose writes may be rolled back. */
  lookUp(ctx: InTx, items: I[], cacheable: boolean): Promise<K>
  /** The keys of the users that an item is about. Items of users who may be merged share a key. */
  keysOf(item: I, known: K): string[]
  /** The projects with work that is due. */
  projectsDue(ctx: Ctx): Promise<ProjectId[]>
  /** When the next work of other projects than these is due by itself. */
  nextDueAt(ctx: Ctx, without: ReadonlySet<ProjectId>): Promise<Date | null>
  /** The oldest work that is due, at most so much. `upTo` is asked for only if there can be any: no later entry is older. */
  findDue(ctx: InTx, upTo: () => Promise<Date>, max: number): Promise<D[]>
  /** Applies all items and due work, or none. Returns the items that can never be applied. */
  apply(ctx: InTx, items: I[], known: K, partition: Partition, due: D[]): Promise<ParkedItem[]>
  /** Stores that work which is due could not be applied, so that it is not found again. */
  parkDue(ctx: InTx, due: D, reason: string): Promise<void>
}

/** So much work that is due is added to a batch. */
export const DUE_MAX = 3000

/** What was read, all of it in order, and those of it that can be applied apart from those that are parked. */
export type Read<I> = { all: (I | ParkedItem)[]; items: I[]; parked: ParkedItem[] }

/** Reads the items of entries. */
export const readAll = <I extends QueuedItem>(consumer: Pick<Consumer<I, never, never>, 'read'>, entries: QueueEntry[]): Read<I> =>
  sorted(entries.flatMap((entry) => consumer.read(entry)))

export function sorted<I extends QueuedItem>(all: (I | ParkedItem)[]): Read<I> {
  const items: I[] = []
  const parked: ParkedItem[] = []
  for (const one of all) {
    if (isParked(one)) parked.push(one)
    else items.push(one)
  }
  return { all, items, parked }
}

export const isParked = <I extends QueuedItem>(one: I | ParkedItem): one is ParkedItem => 'reason' in one
