import type { components } from '@carillon/sdk'

export type System = components['schemas']['System']

const MINUTE_MS = 60_000
/** What is due for longer than this waits for workers. */
const LATE_MS = 5 * MINUTE_MS
const FREE_PART_MIN = 0.1

/** Since when the oldest of a queue has waited, in milliseconds; 0 while nothing waits. */
const waitedMs = ({ oldest_at }: System['queues'][number], readAt: string): number =>
  oldest_at === null ? 0 : Math.max(0, Date.parse(readAt) - Date.parse(oldest_at))

/** Null where it does not apply. */
export type Check = { id: 'schema' | 'durable' | 'queues' | 'parked' | 'disk' | 'production'; passes: boolean | null }

/** What an operator looks at first, in the order of how much it matters. */
export function checksOf({ migrations, database, queues, parked, disk, is_production, read_at }: System): Check[] {
  return [
    { id: 'schema', passes: migrations.applied === migrations.expected },
    { id: 'durable', passes: database.is_durable },
    { id: 'queues', passes: queues.every((queue) => waitedMs(queue, read_at) < LATE_MS) },
    { id: 'parked', passes: parked === 0 },
    { id: 'disk', passes: disk === null ? null : disk.free_bytes >= disk.size_bytes * FREE_PART_MIN },
    { id: 'production', passes: is_production ? true : null },
  ]
}
