/** The providers by name, each with what its settings are checked by. */
import { type Fault, refuse } from '../../lib/errors.ts'
import { Exact } from '../../lib/shapes.ts'
import { type Check, checker } from '../../lib/validate.ts'
import type { Provider } from './provider.ts'
import * as registry from './providers/index.ts'

export type ProviderName = keyof typeof registry

export const providers: Record<ProviderName, Provider> = registry

export const PROVIDER_NAMES = Object.keys(registry) as ProviderName[]

/** Members of the settings by name; secrets among them. */
export type Settings = Record<string, unknown>

const shapes = Object.fromEntries(
  PROVIDER_NAMES.map((name) => [name, checker(Exact({ settings: providers[name].settings }))]),
) as unknown as Record<ProviderName, Check<{ settings: Settings }>>

/** The settings as they are stored. Throws what is wrong with them, all of it. */
export function checkedSettings(name: ProviderName, given: Settings): Settings {
  // Checking trims in place: what was given is the caller's.
  const { faults, value } = shapes[name]({ settings: structuredClone(given) })
  refuse(faults)
  const broken = providers[name].check?.(value.settings as never) ?? []
  refuse(
    broken.map(
      ({ param, message }): Fault => ({ code: 'validation_failed', param: `settings.${param}`, message: inSettings(param, message) }),
    ),
  )
  return value.settings
}

/** Messages name parameters as the provider knows them; the caller wrote them inside of `settings`. */
const inSettings = (param: string, message: string) => message.replaceAll(`\`${param}\``, `\`settings.${param}\``)

/** The members that are never read again. */
const secretNames = (name: ProviderName): string[] =>
  Object.entries((providers[name].settings as { properties?: Record<string, { writeOnly?: boolean }> }).properties ?? {}).flatMap(
    ([member, { writeOnly }]) => (writeOnly === true ? [member] : []),
  )

/** What may be shown, and what is sealed. */
export function splitSecrets(name: ProviderName, settings: Settings): { shown: Settings; secrets: Settings } {
  const names = secretNames(name)
  const entries = Object.entries(settings)
  return {
    shown: Object.fromEntries(entries.filter(([member]) => !names.includes(member))),
    secrets: Object.fromEntries(entries.filter(([member]) => names.includes(member))),
  }
}
