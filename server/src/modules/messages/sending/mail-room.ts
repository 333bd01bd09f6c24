/**
 * How many messages of a blast may be rendered for the mail queue. It holds so much email that waits for its first attempt, and no more: a blast
 * of a million must not be copied into it at once.
 */

import { LRUCache } from 'lru-cache'
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { SharedRate } from '../../../infra/runtime/shared-rate.ts'
import { atMost } from '../../../lib/cache-limit.ts'
import type { CampaignId, ProjectId } from '../../../lib/ids.ts'
import { SECOND_MS } from '../../../lib/times.ts'
import type { ProviderConnection } from '../../channels/index.ts'
import { findPauses, untriedBulk, untriedByCampaign } from '../../mta/index.ts'
import { BULK, type Priority } from '../schema.ts'
import type { FindSendingCampaigns } from './find-sending-campaigns.ts'
import type { Refused } from './rates.ts'

const BYTES_MAX = 512 * 1024 * 1024
const RECHECK_MS = 500

/** How fast messages that wait for room are sent, should nothing look after them any more. */
const UNATTENDED: SharedRate = { limit: 100, intervalMs: SECOND_MS }

type Over = Pick<ProviderConnection, 'provider'>

type UntriedOfCampaign = Awaited<ReturnType<typeof untriedByCampaign>>[number]

/** What waited in a full queue when it was read, and how many messages of each campaign got room since then. */
type FullQueue = { untried: UntriedOfCampaign[]; granted: Map<CampaignId, number> }

/** A full queue, and when it was read; null while it is being read. */
type Reading = { queue: Promise<FullQueue>; readAtMs: number | null }

/** The full queues of projects. To read one is slow, because it may hold much that is paused, so that batches share what is read. */
export type FullQueues = LRUCache<ProjectId, Reading>

const FULL_QUEUES_MAX = 1000

export const createFullQueues = (): FullQueues => new LRUCache<ProjectId, Reading>(atMost(FULL_QUEUES_MAX))

/** Who asks: the priority of the messages, how campaigns are read, and what this process knows of full queues. */
export type MailRoomAsking = { priority: Priority; findSendingCampaigns: FindSendingCampaigns; fullQueues: FullQueues }

/** How many more messages the mail queue of a project takes, and of which campaigns none. */
type Room = { messages: number; closedTo: ReadonlySet<CampaignId> }

const UNLIMITED: Room = { messages: Number.MAX_SAFE_INTEGER, closedTo: new Set() }

/** How many more messages of a campaign the mail queue of its project takes; for other providers, any number. */
export async function mailRoom(ctx: ProjectCtx, asking: MailRoomAsking, over: Over, campaignId: CampaignId): Promise<number> {
  const { messages, closedTo } = await roomFor(ctx, asking, over)
  return closedTo.has(campaignId) ? 0 : messages
}

async function roomFor(ctx: ProjectCtx, asking: MailRoomAsking, { provider }: Over): Promise<Room> {
  if (provider !== 'mta' || asking.priority !== BULK) return UNLIMITED
  const most = ctx.config.MTA_QUEUE_MAX
  if (knownFullQueue(ctx, asking.fullQueues)) return roomBesidePaused(ctx, asking, most)
  const messages = roomBeside(await untriedBulk(ctx, most), most)
  return messages > 0 ? { ...UNLIMITED, messages } : roomBesidePaused(ctx, asking, most)
}

type Untried = { mails: number; bytes: number }

const roomBeside = ({ mails, bytes }: Untried, most: number, bytesMax = BYTES_MAX): number =>
  bytes < bytesMax ? Math.max(0, most - mails) : 0

/** Email that a pause of a site or a warm-up holds may be so many times what waits. Campaigns that have some put no more there then. */
const HELD_QUEUES_MAX = 4

/** The room in a full queue: email that is paused or goes much later takes none from other campaigns, but only so much of it is put there. */
async function roomBesidePaused(ctx: ProjectCtx, { findSendingCampaigns, fullQueues }: MailRoomAsking, most: number): Promise<Room> {
  const { untried, granted } = await readFullQueue(ctx, fullQueues)
  const ids = untried.flatMap(({ campaign_id }) => campaign_id ?? [])
  const [campaigns, pauses] = [await findSendingCampaigns(ctx, ids), await findPauses(ctx)]
  if (pauses.some(({ scope }) => scope === 'project')) return { ...UNLIMITED, messages: 0 }
  const paused = new Set([
    ...campaigns.flatMap(({ id, is_paused }) => (is_paused ? id : [])),
    ...pauses.flatMap(({ scope, value }) => (scope === 'campaign' ? (Number(value) as CampaignId) : [])),
  ])
  const others = untried.filter(({ campaign_id }) => campaign_id === null || !paused.has(campaign_id))
  const held = { mails: sumOf(others, 'held_mails'), bytes: sumOf(others, 'held_bytes') }
  const isFullOfHeld = roomBeside(held, HELD_QUEUES_MAX * most, HELD_QUEUES_MAX * BYTES_MAX) === 0
  const holding = isFullOfHeld ? others.flatMap(({ campaign_id, held_mails }) => (held_mails > 0 ? (campaign_id ?? []) : [])) : []
  const since = [...granted].reduce((sum, [id, messages]) => (paused.has(id) ? sum : sum + messages), 0)
  const rest = { mails: sumOf(others, 'mails') + since, bytes: sumOf(others, 'bytes') }
  return { messages: roomBeside(rest, most), closedTo: new Set([...paused, ...holding]) }
}

/** What waits in the queue of a project, if it was full when it was read, at most `RECHECK_MS` ago. */
function knownFullQueue(ctx: ProjectCtx, fullQueues: FullQueues): Promise<FullQueue> | undefined {
  const known = fullQueues.get(ctx.projectId)
  if (!known) return undefined
  // A clock that moves back must not keep what was read.
  const isKnown = known.readAtMs === null || Math.abs(ctx.clock.now().getTime() - known.readAtMs) < RECHECK_MS
  return isKnown ? known.queue : undefined
}

/** Returns what waits in a full queue, as it was at most `RECHECK_MS` ago. */
async function readFullQueue(ctx: ProjectCtx, fullQueues: FullQueues): Promise<FullQueue> {
  const known = knownFullQueue(ctx, fullQueues)
  if (known) return known
  const reading: Reading = { queue: untriedByCampaign(ctx).then((untried) => ({ untried, granted: new Map() })), readAtMs: null }
  fullQueues.set(ctx.projectId, reading)
  try {
    return await reading.queue
  } catch (error) {
    if (fullQueues.get(ctx.projectId) === reading) fullQueues.delete(ctx.projectId)
    throw error
  } finally {
    reading.readAtMs = ctx.clock.now().getTime()
  }
}

const sumOf = <M extends string>(rows: readonly Record<M, number>[], member: M): number => rows.reduce((sum, row) => sum + row[member], 0)

/** When to look again for room. */
export const roomAt = ({ clock }: Pick<Ctx, 'clock'>): Date => new Date(clock.now().getTime() + RECHECK_MS)

/** Divides messages into those that the mail queue has room for, and the others. */
export async function applyMailRoom<T extends { connection: Over; message: { campaign_id: CampaignId } }>(
  ctx: ProjectCtx,
  asking: MailRoomAsking,
  items: readonly T[],
): Promise<{ granted: T[]; refused: Refused<T>[] }> {
  const queued = items.filter(({ connection }) => connection.provider === 'mta')
  const [first] = queued
  if (!first) return { granted: [...items], refused: [] }
  const room = await roomFor(ctx, asking, first.connection)
  const taken = new Set(queued.filter(({ message }) => !room.closedTo.has(message.campaign_id)).slice(0, room.messages))
  const granted = (await asking.fullQueues.get(ctx.projectId)?.queue)?.granted
  for (const { message } of taken) granted?.set(message.campaign_id, (granted.get(message.campaign_id) ?? 0) + 1)
  const over = new Set(queued.filter((item) => !taken.has(item)))
  const at = roomAt(ctx)
  return { granted: items.filter((item) => !over.has(item)), refused: [...over].map((item) => ({ item, at, rate: UNATTENDED })) }
}
