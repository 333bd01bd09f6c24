/** The providers that a project has configured. */
import { isDeepStrictEqual } from 'node:util'
import { publicSchema } from '../../infra/http/openapi/schemas.ts'
import { mapPage, type PageRequest } from '../../infra/http/paging.ts'
import { Conflict, isSqlState, UNIQUE_VIOLATION } from '../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import { lockRoom } from '../../infra/runtime/room.ts'
import type { Channel } from '../../lib/channels.ts'
import { ApiError, fault, missing } from '../../lib/errors.ts'
import type { ProjectId, ProviderId } from '../../lib/ids.ts'
import type { Language } from '../../lib/languages.ts'
import { translated } from '../../lib/translated.ts'
import { openSecrets, outsideOf, sealContext, toolsOf } from './connections.ts'
import { projectsWithFaults } from './faults.queries.ts'
import { german } from './german.ts'
import * as queries from './queries.ts'
import { checkedSettings, PROVIDER_NAMES, type ProviderName, providers, type Settings, splitSecrets } from './registry.ts'
import type {
  ConfiguredProvider,
  ProviderChanges,
  ProviderInput,
  ProviderKinds,
  ProviderRow,
  ProviderTest,
  SegmentPrice,
} from './schema.ts'

const PROVIDERS_MAX = 100
const SANDBOX: ProviderName = 'sandbox'

/** The kinds of provider that can be configured, described in a language. */
export const providerKinds = (language: Language = 'en'): ProviderKinds =>
  language === 'en' ? inEnglish() : translated(inEnglish(), german)

const inEnglish = (): ProviderKinds => ({
  results: PROVIDER_NAMES.map((name) => {
    const { label, channels, settings, read } = providers[name]
    return { name, label, channels: [...channels], settings: publicSchema(settings), has_callbacks: read !== undefined }
  }),
})

export const listProviders = async (ctx: ProjectCtx, page: PageRequest) =>
  mapPage(await queries.listProviders(ctx, page), (row) => present(ctx, row))

/** Reads a provider. Throws 404. */
export async function getProvider(ctx: ProjectCtx, id: ProviderId): Promise<ConfiguredProvider> {
  return present(ctx, found(await queries.findProvider(ctx, id)))
}

/** Does the project have a provider that delivers messages? The sandbox does not. */
/** Which of these projects send messages, and in which the sandbox acts out faults. Messages of those that send none go to the sandbox. */
export const environmentsOf = async (ctx: Ctx, ids: ProjectId[]) => ({
  live: await queries.projectsWithProviderBeside(ctx, ids, SANDBOX),
  faulty: await projectsWithFaults(ctx, ids),
})

export const hasProvider = (ctx: Ctx, projectId: ProjectId): Promise<boolean> => queries.hasProviderBeside(ctx, projectId, SANDBOX)

/** Creates a provider. The first of a channel becomes its default. Throws if the settings are invalid, or there are too many. */
export async function createProvider(ctx: ProjectCtx, input: ProviderInput): Promise<ConfiguredProvider> {
  const { name, kind, channel, rate = null, segment_price = null } = input
  if (!providers[kind].channels.includes(channel)) {
    throw fault(
      'validation_failed',
      'channel',
      `The value of \`channel\` must be one that the provider \`${kind}\` supports: ${listed(providers[kind].channels)}.`,
    )
  }
  checkPrice(channel, segment_price)
  const { shown, secrets } = splitSecrets(kind, checkedSettings(kind, input.settings))
  const row = await inTxWithRetry(ctx, async (ctx) => {
    await lockRoom(ctx, 'providers', ctx.projectId)
    const counts = await queries.countProviders(ctx, channel)
    if ((counts?.all ?? 0) >= PROVIDERS_MAX) {
      throw new ApiError('quota_exceeded', `A project may have at most ${PROVIDERS_MAX} providers. Delete one first.`)
    }
    const is_default = input.is_default ?? counts?.of_channel === 0
    if (is_default) await queries.dropDefault(ctx, channel, null)
    const made = await queries.insertProvider(ctx, { name, kind, channel, settings: shown, is_default, rate, segment_price })
    return queries.saveProvider(ctx, made.id, { ...made, ...sealed(ctx, made.id, secrets), rate })
  })
  return present(ctx, row)
}

/** Changes the given members. Throws 404, or if the settings are invalid. */
export async function updateProvider(ctx: ProjectCtx, id: ProviderId, changes: ProviderChanges): Promise<ConfiguredProvider> {
  const row = await inTxWithRetry(ctx, async (ctx) => {
    const row = found(await queries.lockProvider(ctx, id))
    const { settings, ...rest } = changes
    checkPrice(row.channel, changes.segment_price)
    const before = stateOf(row)
    const next = { ...before, ...rest, ...(settings && changed(ctx, row, settings)) }
    if (isDeepStrictEqual(next, before)) return row
    if (next.is_default && !row.is_default) await queries.dropDefault(ctx, row.channel, id)
    return queries.saveProvider(ctx, id, next)
  })
  return present(ctx, row)
}

/** Deletes a provider and its secrets. Without a default provider, messages of a channel go to the sandbox. */
export async function deleteProvider(ctx: ProjectCtx, id: ProviderId): Promise<void> {
  if ((await queries.archiveProvider(ctx, id)) === 0) throw missing('provider')
}

/** Tests the settings of a provider without sending a message. */
export async function testProvider(ctx: ProjectCtx, id: ProviderId): Promise<ProviderTest> {
  const row = found(await queries.findProvider(ctx, id))
  const secrets = openSecrets(ctx, row)
  if (!secrets) return { works: false, message: 'The secrets of this provider can no longer be decrypted. Set them again.' }
  return providers[row.kind].test({ ...row.settings, ...secrets } as never, toolsOf(ctx, id))
}

/** Only text messages have segments. */
function checkPrice(channel: Channel, price: SegmentPrice | null | undefined): void {
  if (price && channel !== 'text')
    throw fault('validation_failed', 'segment_price', 'Only providers for the channel `text` have a price per SMS segment.')
}

/** What the provider that sends text messages charges for a segment; null if that is not known. */
export async function segmentPriceOf(ctx: ProjectCtx, id: ProviderId | null): Promise<SegmentPrice | null> {
  const chosen = id === null ? undefined : await queries.findProvider(ctx, id)
  const row = chosen?.channel === 'text' ? chosen : await queries.findDefault(ctx, 'text')
  return row?.segment_price ?? null
}

/** Runs `work` in a transaction, again if another one set a default at the same time. */
const inTxWithRetry = <T>(ctx: ProjectCtx, work: (ctx: InTx) => Promise<T>): Promise<T> =>
  inTx(ctx, (ctx) =>
    work(ctx).catch((error: unknown) => {
      throw isSqlState(error, UNIQUE_VIOLATION) ? new Conflict() : error
    }),
  )

/** Merges the changes into the settings and checks the result. Encrypts the secrets again only if one changed. */
function changed(ctx: InTx, row: ProviderRow, changes: Settings): Partial<queries.ProviderState> {
  const secrets = openSecrets(ctx, row) ?? {}
  const merged = Object.entries({ ...row.settings, ...secrets, ...changes }).filter(([, value]) => value !== null)
  const next = splitSecrets(row.kind, checkedSettings(row.kind, Object.fromEntries(merged)))
  return { settings: next.shown, ...(!isDeepStrictEqual(next.secrets, secrets) && sealed(ctx, row.id, next.secrets)) }
}

const sealed = (ctx: InTx, id: ProviderId, secrets: Settings): Pick<ProviderRow, 'sealed' | 'secret_names'> => {
  const secret_names = Object.keys(secrets).sort()
  return { sealed: secret_names.length === 0 ? null : ctx.secrets.seal(JSON.stringify(secrets), sealContext(id)), secret_names }
}

const stateOf = ({ name, settings, sealed, secret_names, is_default, segment_price, ...row }: ProviderRow): queries.ProviderState => ({
  name,
  settings,
  sealed,
  secret_names,
  is_default,
  segment_price,
  rate: rateOf(row),
})

const rateOf = ({ rate_limit, rate_interval_seconds }: Pick<ProviderRow, 'rate_limit' | 'rate_interval_seconds'>) =>
  rate_limit === null || rate_interval_seconds === null ? null : { limit: rate_limit, interval_seconds: rate_interval_seconds }

function present(ctx: Ctx, { sealed: _, secret_names, rate_limit, rate_interval_seconds, ...row }: ProviderRow): ConfiguredProvider {
  return {
    ...row,
    has_secrets: secret_names,
    rate: rateOf({ rate_limit, rate_interval_seconds }),
    callback_url: providers[row.kind].read ? outsideOf(ctx, row.id).callbackUrl : null,
  }
}

function found(row: ProviderRow | undefined): ProviderRow {
  if (!row) throw missing('provider')
  return row
}

const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')
