/** Who carries a message: a provider with what it has to know, ready to be handed messages. */
import { LRUCache } from 'lru-cache'
import type { Ctx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ProviderId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import { together as outcomeOfAll, PUSH_SERVICES, type PushService, serviceOf } from './devices.ts'
import type { Outgoing, ProviderResponse, ProviderTools } from './provider.ts'
import { findDefault, findOthers, findProvider } from './queries.ts'
import { type ProviderName, providers, type Settings } from './registry.ts'
import type { ProviderRow } from './schema.ts'

/** A provider as the sender sees it. */
export type ProviderConnection = {
  provider: ProviderName
  /** Null for the sandbox of a project that has configured nobody. */
  providerId: ProviderId | null
  /** May a handover that was begun be repeated, because nothing leaves the database before it is settled? */
  repeatable: boolean
  /** Does the vendor carry out a handover with the same key once? */
  idempotent: boolean
  /** How many handovers of one process are under way at once. */
  atOnce: number
  /** How many of all processes in each interval. */
  rate: { limit: number; interval_ms: number } | null
  /** Never throws for what happens outside. */
  send(message: Outgoing): Promise<{ outcome: ProviderResponse; elapsedMs: number }>
}

/**
 * The given provider, when it is there and serves the channel; else the default of the channel; else the sandbox. Beside a default
 * that is a push service go those for the other devices: people have an iPhone and a browser.
 */
export async function connectProvider(ctx: ProjectCtx, channel: Channel, providerId: ProviderId | null): Promise<ProviderConnection> {
  const chosen = providerId === null ? undefined : await findProvider(ctx, providerId)
  if (chosen?.channel === channel) return connectionOfRow(ctx, chosen)
  const row = await findDefault(ctx, channel)
  if (!row) return connectionOf(ctx, { kind: 'sandbox', id: null, settings: {}, rate: null })
  if (!isPushService(row.kind)) return connectionOfRow(ctx, row)
  const others = [...Map.groupBy(await findOthers(ctx, channel, row.id), ({ kind }) => kind).values()].flatMap(([oldest]) => oldest ?? [])
  const beside = others.filter(({ kind }) => kind !== row.kind && isPushService(kind))
  return joinResponses(
    connectionOfRow(ctx, row),
    beside.map((other) => connectionOfRow(ctx, other)),
  )
}

const isPushService = (kind: ProviderName): kind is PushService => (PUSH_SERVICES as readonly string[]).includes(kind)

/** Several push services as one carrier: each gets the message when it reaches one of the devices. */
function joinResponses(first: ProviderConnection, others: ProviderConnection[]): ProviderConnection {
  if (others.length === 0) return first
  return {
    ...first,
    async send(message) {
      const reached = new Set(message.devices.map(serviceOf))
      const asked = [first, ...others].filter(({ provider }) => reached.has(provider as PushService))
      if (asked.length === 0) return first.send(message)
      const answers = await Promise.all(asked.map((connection) => connection.send(message)))
      return {
        outcome: outcomeOfAll(answers.map(({ outcome }) => outcome)),
        elapsedMs: Math.max(...answers.map(({ elapsedMs }) => elapsedMs)),
      }
    },
  }
}

function connectionOfRow(ctx: ProjectCtx, row: ProviderRow): ProviderConnection {
  const { kind, id, rate_limit, rate_interval_seconds } = row
  const rate =
    rate_limit === null || rate_interval_seconds === null ? null : { limit: rate_limit, interval_ms: rate_interval_seconds * 1000 }
  const secrets = openSecrets(ctx, row)
  return connectionOf(ctx, { kind, id, settings: secrets && { ...row.settings, ...secrets }, rate })
}

type Ready = {
  kind: ProviderName
  id: ProviderId | null
  /** Null when they cannot be opened. */
  settings: Settings | null
  rate: ProviderConnection['rate']
}

function connectionOf(ctx: ProjectCtx, { kind, id, settings, rate }: Ready): ProviderConnection {
  const { repeatable, idempotent, atOnce, send } = providers[kind]
  const outside = outsideOf(ctx, id)
  return {
    provider: kind,
    providerId: id,
    repeatable,
    idempotent,
    atOnce,
    rate,
    async send(message) {
      const started = performance.now()
      const outcome = settings ? await send(settings as never, message, outside) : locked
      const elapsedMs = performance.now() - started
      ctx.metrics.messageSent(message.channel, kind, outcome.is, elapsedMs)
      return { outcome, elapsedMs }
    },
  }
}

const locked: ProviderResponse = {
  is: 'deferred',
  reason: 'The secrets of the provider cannot be opened any more. Send them again.',
  code: 'secrets',
}

/** What a provider may reach. */
export const outsideOf = ({ fetch, smtp, clock, baseUrl }: Ctx, id: ProviderId | null): ProviderTools => ({
  fetch,
  smtp,
  clock,
  baseUrl: baseUrl(),
  callbackUrl: id === null ? '' : `${baseUrl()}/callbacks/providers/${id}`,
})

/** Binds sealed secrets to their provider. */
export const sealContext = (id: ProviderId) => `provider:${id}`

const OPENED_MAX = 1000

/** By what is sealed, which is another text whenever it is sealed again: nothing in here grows old. */
const opened = new LRUCache<string, Settings>({ max: OPENED_MAX })

/** The secrets of a provider, opened; null when the key that sealed them is gone. */
export function openSecrets(ctx: Ctx, { id, sealed }: Pick<ProviderRow, 'id' | 'sealed'>): Settings | null {
  if (sealed === null) return {}
  const known = opened.get(sealed)
  if (known) return known
  try {
    const secrets = JSON.parse(ctx.secrets.open(sealed, sealContext(id))) as Settings
    opened.set(sealed, secrets)
    return secrets
  } catch (error) {
    ctx.log.error({ err: error, provider_id: id }, 'the secrets of a provider cannot be opened')
    return null
  }
}
