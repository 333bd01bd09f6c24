/** Records of the DNS with a cache (D-MTA-21): each is asked for once, however many ask, and kept as long as it may be. */
import { randomInt } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../lib/clock.ts'
import { createGate } from '../../../lib/gate.ts'
import type { NameServer } from '../../../lib/name-servers.ts'
import { dnsName } from '../../../lib/urls.ts'
import { ask } from './exchange.ts'
import type { Question, RecordType, Said, Values } from './packets.ts'

/** The records of a name. `exists` says if the name does; `ttlS` how long the answer may be kept. */
export type Found<T extends RecordType> =
  | { is: 'records'; values: Values[T][]; isSecure: boolean; ttlS: number }
  | { is: 'none'; exists: boolean; isSecure: boolean; ttlS: number }
  | { is: 'failed'; reason: string }

export type Records = {
  find<T extends RecordType>(name: string, type: T): Promise<Found<T>>
  /** How many answers are kept. */
  size(): number
}

export type RecordsOptions = {
  servers: () => NameServer[]
  clock: Clock
  signal: AbortSignal
  timeoutMs?: number
  cacheBytes?: number
}

const TIMEOUT_MS = 3000
const TRIES = 2
const QUERIES_MAX = 200
const ALIASES_MAX = 8
const ID_END = 65_536

/** How long answers are kept, in seconds: records, their absence, and failures, whose cause may be over at any time. */
const RECORDS_TTL_S = { min: 30, max: 3600 }
const NONE_TTL_S = { min: 60, max: 300 }
const FAILED_TTL_S = 15

const CACHE_BYTES = 32 * 1024 * 1024
/** About what an entry and a value take in addition to their text. */
const ENTRY_BYTES = 300
const VALUE_BYTES = 60

type Entry = { found: Found<RecordType>; keptAtMs: number; keptForMs: number }

/** Opens a cache over the name servers. */
export function openRecords(options: RecordsOptions): Records {
  const { clock, cacheBytes = CACHE_BYTES } = options
  const gate = createGate(QUERIES_MAX)
  const known = new LRUCache<string, Entry>({
    maxSize: cacheBytes,
    sizeCalculation: ({ found }, key) => ENTRY_BYTES + key.length + sizeOf(found),
  })
  const underWay = new Map<string, Promise<Found<RecordType>>>()

  const find = async (name: string, type: RecordType): Promise<Found<RecordType>> => {
    const asked = dnsName(name)
    if (asked === null) return { is: 'failed', reason: 'a name that the DNS cannot have' }
    const key = `${type} ${asked}`
    const entry = known.get(key)
    // The absolute value, because a clock that moved back would make an entry seem newer than it is.
    if (entry && Math.abs(clock.now().getTime() - entry.keptAtMs) < entry.keptForMs) return entry.found
    const running = underWay.get(key)
    if (running) return running
    const search = gate(() => resolve(options, asked, type))
    underWay.set(key, search)
    const found = await search.finally(() => underWay.delete(key))
    known.set(key, { found, keptAtMs: clock.now().getTime(), keptForMs: keptForS(found) * 1000 })
    return found
  }
  return { find: find as Records['find'], size: () => known.size }
}

const clamp = (value: number, { min, max }: { min: number; max: number }) => Math.min(Math.max(value, min), max)

function keptForS(found: Found<RecordType>): number {
  switch (found.is) {
    case 'records':
      return clamp(found.ttlS, RECORDS_TTL_S)
    case 'none':
      return clamp(found.ttlS, NONE_TTL_S)
    case 'failed':
      return FAILED_TTL_S
    default:
      return found satisfies never
  }
}

function sizeOf(found: Found<RecordType>): number {
  if (found.is !== 'records') return 0
  return found.values.reduce<number>((sum, value) => {
    const text = typeof value === 'string' ? value : 'data' in value ? value.data : value.exchange
    return sum + VALUE_BYTES + 2 * text.length
  }, 0)
}

/** Asks for a name, and for those that it stands for if the server does not. */
async function resolve(options: RecordsOptions, name: string, type: RecordType): Promise<Found<RecordType>> {
  let at = name
  let isSecure = true
  let ttlS = Number.POSITIVE_INFINITY
  for (let aliases = 0; aliases <= ALIASES_MAX; aliases++) {
    const said = await askServers(options, at, type)
    if (said.is === 'failed') return said
    isSecure &&= said.isSecure
    ttlS = Math.min(ttlS, said.ttlS)
    if (said.is !== 'alias') return { ...said, isSecure, ttlS }
    const next = dnsName(said.of)
    if (next === null) return { is: 'failed', reason: 'an alias of a name that the DNS cannot have' }
    at = next
  }
  return { is: 'failed', reason: 'too many aliases' }
}

/** Asks one server, and if that does not answer the next one; the only one twice. */
async function askServers({ servers, signal, timeoutMs = TIMEOUT_MS }: RecordsOptions, name: string, type: RecordType) {
  const all = servers()
  let said: Exclude<Said<RecordType>, { is: 'truncated' }> = { is: 'failed', reason: 'no name server' }
  for (let tries = 0; tries < TRIES && all.length > 0; tries++) {
    const question: Question = { name, type, id: randomInt(ID_END) }
    const over = new AbortController()
    const limit = AbortSignal.any([signal, over.signal])
    // Not by the clock of the context, which servers outside know nothing of.
    const timer = setTimeout(() => over.abort(), timeoutMs)
    said = await ask(all[tries % all.length] as NameServer, question, limit)
    clearTimeout(timer)
    if (said.is !== 'failed' || signal.aborted) break
  }
  return said
}
