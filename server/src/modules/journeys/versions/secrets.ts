/** Secrets in the headers of webhook steps: sealed as they are stored, hidden in replies (D-JRN-8). */
import type { Secrets } from '../../../infra/runtime/secrets.ts'
import type { Fault } from '../../../lib/errors.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import type { Step } from '../schema.ts'

/** What replies show for a secret. Written back, it means the secret as it is stored. */
const HIDDEN = '********'

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

/**
 * The steps with their secrets sealed. `stored` are the former steps: where a step has the placeholder that replies show for a secret, the
 * former secret is kept.
 */
export function sealSecrets(
  secrets: Pick<Secrets, 'seal'>,
  journeyId: JourneyId,
  steps: Step[],
  stored: readonly Step[],
): { steps: Step[]; faults: Fault[] } {
  const faults: Fault[] = []
  const former = new Map(stored.map((step) => [step.external_id, headersOf(step) ?? {}]))
  const sealed = steps.map((step) =>
    withHeaders(step, (name, { secret }) => {
      if (secret !== HIDDEN) return secrets.seal(secret, sealContext(journeyId))
      const known = former.get(step.external_id)?.[name]
      if (typeof known === 'object') return known.secret
      const param = `${step.external_id}.data.headers.${name}.secret`
      faults.push({ code: 'validation_failed', param, message: `No secret is stored for \`${param}\`. Write the secret itself.` })
      return secret
    }),
  )
  return { steps: sealed, faults }
}

/** The steps as replies show them, without their secrets. */
export const hideSecrets = (steps: readonly Step[]): Step[] => steps.map((step) => withHeaders(step, () => HIDDEN))

/** Checked steps as a request has them, by their keys, without their secrets. */
export const withoutSecrets = (map: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(map).map(([key, step]) => [key, withHeaders(step as Step, () => HIDDEN)]))
