/** The kinds of provider by name, and the checks of their settings. */
import { type Fault, refuse } from '../../lib/errors.ts'
import { Exact } from '../../lib/shapes.ts'
import { type Check, checker } from '../../lib/validate.ts'
import { headerProblem } from './header-limits.ts'
import type { Provider } from './provider.ts'
import * as registry from './providers/index.ts'

export type ProviderName = keyof typeof registry

export const providers: Record<ProviderName, Provider> = registry

export const PROVIDER_NAMES = Object.keys(registry) as ProviderName[]

/** The providers that accept an attempt with the same key only once. */
export const IDEMPOTENT_PROVIDERS: readonly string[] = PROVIDER_NAMES.filter((name) => providers[name].idempotent)

/** Whether one of the providers would refuse an email with these headers of a request. */
export const isRefusedBySome = (headers: Readonly<Record<string, string>>): boolean =>
  PROVIDER_NAMES.some((name) => headerProblem(providers[name], headers) !== null)

/** Settings by name, including secrets. */
export type Settings = Record<string, unknown>

const shapes = Object.fromEntries(
  PROVIDER_NAMES.map((name) => [name, checker(Exact({ settings: providers[name].settings }))]),
) as unknown as Record<ProviderName, Check<{ settings: Settings }>>

/** Checks settings and returns them as they are stored. Throws all of their faults. */
export function checkedSettings(name: ProviderName, given: Settings): Settings {
  // A copy, because the check trims in place.
  const { faults, value } = shapes[name]({ settings: structuredClone(given) })
  refuse(faults)
  const problems = providers[name].check?.(value.settings as never) ?? []
  refuse(
    problems.map(
      ({ param, message }): Fault => ({ code: 'validation_failed', param: `settings.${param}`, message: inSettings(param, message) }),
    ),
  )
  return value.settings
}

/** Adds `settings.` to the parameter in a message. */
const inSettings = (param: string, message: string) => message.replaceAll(`\`${param}\``, () => `\`settings.${param}\``)

/** The names of the secret settings. */
const secretNames = (name: ProviderName): string[] =>
  Object.entries((providers[name].settings as { properties?: Record<string, { writeOnly?: boolean }> }).properties ?? {}).flatMap(
    ([member, { writeOnly }]) => (writeOnly === true ? [member] : []),
  )

/** Separates the settings that may be shown from the secrets, which are encrypted. */
export function splitSecrets(name: ProviderName, settings: Settings): { shown: Settings; secrets: Settings } {
  const names = secretNames(name)
  const entries = Object.entries(settings)
  return {
    shown: Object.fromEntries(entries.filter(([member]) => !names.includes(member))),
    secrets: Object.fromEntries(entries.filter(([member]) => names.includes(member))),
  }
}
