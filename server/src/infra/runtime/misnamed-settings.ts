/**
 * Names in the environment that look like settings and are not. An environment is shared with other programs, so a name is reported only if
 * it is one or two characters away from a setting, or begins as only our settings do (D-OPS-5).
 */
import { editDistance } from '../../lib/edit-distance.ts'
import { type Environment, fileNameOf } from './given-settings.ts'

/** A name that no setting has, and the setting that is most like it. */
type Misnamed = { name: string; nearest: string }

/** No other program that we know of has settings that begin so. */
const OWN_PREFIXES = [
  'BACKLOG_',
  'BOOTSTRAP_',
  'EGRESS_',
  'IDEMPOTENCY_',
  'JOURNEY_',
  'MTA_',
  'OIDC_',
  'PARKED_',
  'QUOTA_',
  'RATE_',
  'SUBMISSION_',
]
/** No setting begins so. */
const PRODUCT = 'CARILLON_'

/** Read by the command `request` and the examples of the guides, by the TypeScript client (two), and by our tests and scripts. */
const OTHERS_OF_OURS = ['SECRET_KEY', 'CARILLON_URL', 'CARILLON_API_KEY', 'CARILLON_CHROMIUM', 'CARILLON_TEST_SERVER']

/** The names in the order of the environment. Those with an empty value are left out. */
export function misnamedSettings(env: Environment, settings: Record<string, { secret?: boolean }>): Misnamed[] {
  const files = Object.keys(settings).filter((name) => settings[name]?.secret)
  const known = [...Object.keys(settings), ...files.map(fileNameOf)]
  const isKnown = new Set([...known, ...OTHERS_OF_OURS])
  const isFree = (name: string) => !env[name]?.trim()
  return Object.keys(env)
    .filter((name) => !isKnown.has(name) && env[name]?.trim())
    .flatMap((name) => {
      const nearest = meantBy(name.toUpperCase(), known, isFree)
      return nearest === undefined ? [] : [{ name, nearest }]
    })
}

/** The setting that a name probably means. Undefined if the name is probably of another program. */
function meantBy(name: string, known: string[], isFree: (name: string) => boolean): string | undefined {
  const isNear = (setting: string) => {
    const typos = typosIn(Math.min(name.length, setting.length))
    return Math.abs(setting.length - name.length) <= typos && editDistance(name, setting, typos) <= typos
  }
  // A setting that is given under its own name too is not what another name means.
  const near = known.filter((setting) => isFree(setting) && isNear(setting))
  if (near.length > 0) return nearest(name, near)
  // Only secrets are read from files.
  const withoutFile = known.find((setting) => name === fileNameOf(setting) && setting.length > SHORT && isFree(setting))
  if (withoutFile !== undefined) return withoutFile
  if (isServiceLink(name)) return undefined
  if (name.startsWith(PRODUCT)) return nearest(name.slice(PRODUCT.length), known)
  const prefix = OWN_PREFIXES.find((prefix) => name.startsWith(prefix))
  return (
    prefix &&
    nearest(
      name,
      known.filter((setting) => setting.startsWith(prefix)),
    )
  )
}

/** Short names, such as HOME and SMTP_PORT, are often one or two characters away from settings. */
const SHORT = 5
const typosIn = (length: number): number => (length <= SHORT ? 0 : length < 10 ? 1 : 2)

const nearest = (name: string, settings: string[]): string | undefined =>
  settings.map((setting) => ({ setting, distance: editDistance(name, setting) })).sort((a, b) => a.distance - b.distance)[0]?.setting

/** Kubernetes and Docker tell a container of each service in this way, also if the service is called `carillon` or `mta`. */
const isServiceLink = (name: string): boolean =>
  name.endsWith('_PORT') || name.includes('_PORT_') || name.includes('_SERVICE_HOST') || name.includes('_SERVICE_PORT')

export const misnamedText = ({ name, nearest }: Misnamed): string => `${name} is not a setting. The nearest one is ${nearest}.`
