/** Provider connections: configured providers with their secrets, ready to send. */
import { LRUCache } from 'lru-cache'
import type { Ctx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ProviderId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import { sendingDomainOf } from '../domains/index.ts'
import { returnPathFor } from '../mta/index.ts'
import { devicesFor, isPushService, serviceOf } from './devices.ts'
import { findFaults } from './faults.queries.ts'
import { actOut, type SandboxFaults } from './faults.ts'
import { type HeaderProblem, headerProblem } from './header-limits.ts'
import { sizeProblem, tooLarge } from './mail-size.ts'
import type { MailTaken, Outgoing, ProviderResponse, ProviderTools } from './provider.ts'
import { findDefault, findOthers, findProvider } from './queries.ts'
import { type ProviderName, providers, type Settings } from './registry.ts'
import type { ProviderRow } from './schema.ts'
import { joinResponses } from './send-to-devices.ts'
import { staysHere } from './sender-check.ts'
import { simulate, simulatedFor } from './simulate.ts'

/** A provider, for the sender. */
export type ProviderConnection = {
  provider: ProviderName
  /** Null for the sandbox, or the inbox, of a project without a provider for the channel. */
  providerId: ProviderId | null
  /** Can an interrupted attempt be repeated? True if nothing leaves the database before the result is recorded. */
  repeatable: boolean
  /** Does the provider accept an attempt with the same key only once, for at least a day? */
  idempotent: boolean
  /** How it takes emails that were composed in advance; null if it takes none. */
  takesMail: MailTaken | null
  /** How many attempts each process makes at the same time. */
  atOnce: number
  /** How many attempts all processes together make per interval. */
  rate: { limit: number; interval_ms: number } | null
  /** Whether no message reaches a receiver outside of this server. */
  staysHere: boolean
  /** The sender of emails whose template has none. */
  defaultFrom: string | null
  returnDomain: string | undefined
  /** Why the provider would refuse an email with files of this size, decoded; null if it would not. */
  sizeProblem(fileBytes: number): string | null
  /** Why the provider would refuse an email with these headers of a request; null if it would not. */
  headerProblem(headers: Readonly<Record<string, string>>): HeaderProblem | null
  /** Makes an attempt. Errors of the provider or the network are outcomes; it does not throw for them. */
  send(message: Outgoing): Promise<{ outcome: ProviderResponse; elapsedMs: number }>
}

/**
 * Connects the given provider if it exists and serves the channel, or else the default of the channel, or else the sandbox or the inbox. If the
 * default is a push service, providers of other push services are included, because users can have an iPhone and a browser.
 */
export async function connectProvider(ctx: ProjectCtx, channel: Channel, providerId: ProviderId | null): Promise<ProviderConnection> {
  const chosen = providerId === null ? undefined : await findProvider(ctx, providerId)
  const row = chosen?.channel === channel ? chosen : await findDefault(ctx, channel)
  const kind = row?.kind ?? DEFAULTS[channel] ?? 'sandbox'
  const faults = kind === 'sandbox' ? await findFaults(ctx) : undefined
  if (!row) return connectionOf(ctx, { kind, id: null, settings: {}, rate: null }, faults)
  if (row === chosen || !isPushService(row.kind)) return connectionOfRow(ctx, row, faults)
  const others = [...Map.groupBy(await findOthers(ctx, channel, row.id), ({ kind }) => kind).values()].flatMap(([oldest]) => oldest ?? [])
  const additional = others.filter(({ kind }) => kind !== row.kind && isPushService(kind))
  return joinConnections(
    connectionOfRow(ctx, row),
    additional.map((other) => connectionOfRow(ctx, other)),
  )
}

/** What sends the messages of channels without a provider: in-app messages do not leave the server. The others have the sandbox. */
const DEFAULTS: Partial<Record<Channel, ProviderName>> = { in_app: 'inbox' }

/** Combines several push services. Each gets the message if it serves one of the devices. */
function joinConnections(first: ProviderConnection, others: ProviderConnection[]): ProviderConnection {
  if (others.length === 0) return first
  return {
    ...first,
    async send(message) {
      const reached = new Set(message.devices.map(serviceOf))
      const serving = [first, ...others].filter(({ provider }) => reached.has(provider))
      if (serving.length === 0) return first.send(message)
      const answers = await Promise.all(serving.map((connection) => connection.send(message)))
      return {
        outcome: joinResponses(answers.map(({ outcome }) => outcome)),
        elapsedMs: Math.max(...answers.map(({ elapsedMs }) => elapsedMs)),
      }
    },
  }
}

function connectionOfRow(ctx: ProjectCtx, row: ProviderRow, faults?: SandboxFaults): ProviderConnection {
  const { kind, id, rate_limit, rate_interval_seconds } = row
  const rate =
    rate_limit === null || rate_interval_seconds === null ? null : { limit: rate_limit, interval_ms: rate_interval_seconds * 1000 }
  const secrets = openSecrets(ctx, row)
  return connectionOf(ctx, { kind, id, settings: secrets && { ...row.settings, ...secrets }, rate }, faults)
}

type Ready = {
  kind: ProviderName
  id: ProviderId | null
  /** Null if they cannot be decrypted. */
  settings: Settings | null
  rate: ProviderConnection['rate']
}

function connectionOf(ctx: ProjectCtx, { kind, id, settings, rate }: Ready, faults?: SandboxFaults): ProviderConnection {
  const { repeatable, idempotent, takesMail = null, atOnce, send, ...limit } = providers[kind]
  const outside = toolsOf(ctx, id)
  return {
    provider: kind,
    providerId: id,
    repeatable,
    idempotent,
    takesMail,
    atOnce,
    rate,
    staysHere: staysHere(kind),
    defaultFrom: defaultFromOf(settings),
    returnDomain: returnDomainOf(settings),
    sizeProblem: (fileBytes) => sizeProblem(limit, fileBytes),
    headerProblem: (headers) => headerProblem(limit, headers),
    async send(message) {
      const started = performance.now()
      const attempt = () => send(settings as never, { ...message, devices: devicesFor(kind, message.devices) }, outside)
      const simulated = simulatedFor(message)
      // Nothing leaves for the simulator. What the sandbox accepts is kept there.
      const outcome = simulated
        ? await simulate(simulated, ctx, kind === 'sandbox' ? attempt : async () => ({ is: 'accepted', delivered: true }))
        : settings
          ? (tooLarge(limit, message) ?? (await (faults ? actOut(faults, message, ctx, attempt) : attempt())))
          : secretsUnreadable
      const elapsedMs = performance.now() - started
      ctx.metrics.messageSent(message.channel, kind, outcome.is, elapsedMs)
      return { outcome, elapsedMs }
    },
  }
}

function defaultFromOf(settings: Settings | null): string | null {
  const { default_from = null } = (settings ?? {}) as { default_from?: string }
  return default_from
}

/** The domain that the provider has bounces go to, whatever the sender. */
const returnDomainOf = (settings: Settings | null): string | undefined => (settings as { return_domain?: string } | null)?.return_domain

const secretsUnreadable: ProviderResponse = {
  is: 'deferred',
  reason: 'The secrets of the provider can no longer be decrypted. Set them again.',
  code: 'secrets',
}

/** The infrastructure that a provider of a project can use. */
export const toolsOf = (ctx: ProjectCtx, id: ProviderId | null): ProviderTools => ({
  ...outsideOf(ctx, id),
  senderOf: (fromDomain, returnDomain) => sendingDomainOf(ctx, fromDomain, returnDomain),
  reportAddressOf: (mail_id, domain) =>
    ctx.config.INBOUND_PORT === undefined ? null : returnPathFor(ctx, { project_id: ctx.projectId, mail_id, recipient_no: 0 }, domain),
})

/** The infrastructure that a provider can use outside of a project, which has no domains. */
export const outsideOf = ({ fetch, smtp, mail, clock, config, baseUrl }: Ctx, id: ProviderId | null): ProviderTools => ({
  fetch,
  smtp,
  mail: { ...mail, needsPublicName: config.production, addresses: config.MTA_ADDRESSES },
  clock,
  baseUrl: baseUrl(),
  callbackUrl: id === null ? '' : `${baseUrl()}/callbacks/providers/${id}`,
  senderOf: async () => undefined,
  reportAddressOf: () => null,
})

/** The context with which the secrets of a provider are encrypted. */
export const sealContext = (id: ProviderId) => `provider:${id}`

const DECRYPTED_CHARACTERS_MAX = 16_000_000

/** Decrypted secrets by their ciphertext. It is different after each encryption, so entries never become stale. */
const decrypted = new LRUCache<string, Settings>({
  maxSize: DECRYPTED_CHARACTERS_MAX,
  sizeCalculation: (_, sealed) => 2 * sealed.length,
})

/** Decrypts the secrets of a provider. Null if the encryption key is no longer configured. */
export function openSecrets(ctx: Ctx, { id, sealed }: Pick<ProviderRow, 'id' | 'sealed'>): Settings | null {
  if (sealed === null) return {}
  const known = decrypted.get(sealed)
  if (known) return known
  try {
    const secrets = JSON.parse(ctx.secrets.open(sealed, sealContext(id))) as Settings
    decrypted.set(sealed, secrets)
    return secrets
  } catch (error) {
    ctx.log.error({ err: error, provider_id: id }, 'the secrets of a provider cannot be decrypted')
    return null
  }
}
