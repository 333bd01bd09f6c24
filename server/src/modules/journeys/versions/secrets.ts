/** Secrets in the headers of webhook steps: sealed as they are stored, hidden in replies (D-JRN-8). */
import type { Secrets } from '../../../infra/runtime/secrets.ts'
import type { Fault } from '../../../lib/errors.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { DAY_MS } from '../../../lib/times.ts'
import type { Step } from '../schema.ts'

/** What replies show for a secret. Written back, it means the secret as it is stored. */
const HIDDEN = '********'
/** How long and how many removed secrets can be brought back. */
const REMOVED_KEPT_MS = DAY_MS
const REMOVED_MAX = 100

type Headers = Record<string, string | { secret: string }>

/** What a sealed header is bound to. */
export const sealContext = (journeyId: JourneyId): string => `header of journey ${journeyId}`

const headersOf = ({ type, data }: Step): Headers | undefined => (type === 'webhook' ? (data as { headers?: Headers }).headers : undefined)

function withHeaders(step: Step, map: (name: string, value: { secret: string }) => string): Step {
  const headers = headersOf(step)
  if (!headers) return step
  const mapped = Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : { secret: map(name, value) }])
  return { ...step, data: { ...step.data, headers: Object.fromEntries(mapped) } }
}

/** A sealed secret, where it is, and the URL that it is sent to. */
type Stored = { step: string; header: string; secret: string; url: string | null }

/** A secret that was removed from a draft, and by whom and when. */
export type Removed = Stored & { by: string; at: string }

const storedIn = (steps: readonly Step[]): Stored[] =>
  steps.flatMap((step) =>
    Object.entries(headersOf(step) ?? {}).flatMap(([header, value]) =>
      typeof value === 'string' ? [] : [{ step: step.external_id, header, secret: value.secret, url: urlOf(step) }],
    ),
  )

const urlOf = ({ data }: Step): string | null => (data as { url?: string }).url ?? null

/** Whether what is sent to one of these URLs may be sent to the other. Their scheme, host and port contain no Liquid. */
function isSameHost(a: string | null, b: string | null): boolean {
  if (a === b) return true
  return a !== null && b !== null && URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin
}

/** What placeholders can mean: the secrets of the former steps, and those that who asks has removed before. */
export type Known = { steps: readonly Step[]; removed: readonly Removed[] }

/** The stored secrets that the placeholder at a header of a step may mean. */
function candidatesFor(step: Step, header: string, { steps, removed }: Known): Stored[] {
  const url = urlOf(step)
  const alike = (stored: readonly Stored[]) => stored.filter((one) => one.header === header && isSameHost(one.url, url))
  const ofKey = ({ step: key }: Stored) => key === step.external_id
  const own = storedIn(steps).find((one) => ofKey(one) && one.header === header) ?? alike(removed).find(ofKey)
  if (own) return [own]
  if (steps.some(({ external_id }) => external_id === step.external_id)) return []
  const ofHost = alike([...storedIn(steps), ...removed])
  const ofUrl = ofHost.filter((one) => one.url === url)
  return ofUrl.length > 0 ? ofUrl : ofHost
}

/**
 * The steps with their secrets sealed. Where a step has the placeholder that replies show for a secret, it means the one of its key and
 * header, also if that was removed before. A new step, which may be a copy, has that of the same header of another step with the same URL, or
 * else to the same host, if there is only one. Who may write the steps could keep and send these secrets in any case (D-JRN-8).
 */
export function sealSecrets(
  secrets: Pick<Secrets, 'seal' | 'open'>,
  journeyId: JourneyId,
  steps: Step[],
  known: Known,
): { steps: Step[]; faults: Fault[] } {
  const faults: Fault[] = []
  const context = sealContext(journeyId)
  const sealed = steps.map((step) =>
    withHeaders(step, (header, { secret }) => {
      if (secret !== HIDDEN) return secrets.seal(secret, context)
      const [first, ...others] = candidatesFor(step, header, known).map((one) => one.secret)
      const isSame = (other: string) => secrets.open(other, context) === secrets.open(first as string, context)
      if (first !== undefined && others.every(isSame)) return first
      const param = `${step.external_id}.data.headers.${header}.secret`
      faults.push({ code: 'validation_failed', param, message: `No secret is stored for \`${param}\`. Write the secret itself.` })
      return secret
    }),
  )
  return { steps: sealed, faults }
}

/** The secrets that are removed once `steps` take the place of `former`: the latest first. Those that came back are removed no longer. */
export function removedBy(former: readonly Step[], steps: readonly Step[], before: readonly Removed[], by: string, now: Date): Removed[] {
  const placeOf = ({ step, header }: Stored) => JSON.stringify([step, header])
  const present = new Set(storedIn(steps).map(placeOf))
  const at = now.toISOString()
  return [...storedIn(former).map((one) => ({ ...one, by, at })), ...before]
    .filter((one) => !present.has(placeOf(one)))
    .slice(0, REMOVED_MAX)
}

/** Those that were removed less than a day ago. */
export const notTooOld = (removed: readonly Removed[], now: Date): Removed[] =>
  removed.filter(({ at }) => new Date(at).getTime() > now.getTime() - REMOVED_KEPT_MS)

/** The steps as replies show them, without their secrets. */
export const hideSecrets = (steps: readonly Step[]): Step[] => steps.map((step) => withHeaders(step, () => HIDDEN))

/** Checked steps as a request has them, by their keys, without their secrets. */
export const withoutSecrets = (map: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(map).map(([key, step]) => [key, withHeaders(step as Step, () => HIDDEN)]))
