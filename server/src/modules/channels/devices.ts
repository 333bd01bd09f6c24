/** The push services among the providers, and the devices of each. */
import type { PushTarget } from './provider.ts'
import { PROVIDER_NAMES, type ProviderName, providers } from './registry.ts'

const pushServices = PROVIDER_NAMES.flatMap((name) => {
  const { devices } = providers[name]
  return devices ? [{ name, ...devices }] : []
})

export const isPushService = (name: ProviderName): boolean => providers[name].devices !== undefined

/**
 * The push service of a device. The format of the token is decisive, because an iPhone app that uses Firebase has a Firebase token.
 * Null if neither the token nor the operating system is known.
 */
export function serviceOf({ os, token }: PushTarget): ProviderName | null {
  const byToken = pushServices.find(({ tokens }) => tokens.test(token))
  const byOs = () => pushServices.find(({ systems }) => os !== null && systems.test(os))
  return (byToken ?? byOs())?.name ?? null
}

/** The devices that a provider sends to: a push service sends only to its own. */
export const devicesFor = (name: ProviderName, devices: PushTarget[]): PushTarget[] =>
  isPushService(name) ? devices.filter((device) => serviceOf(device) === name) : devices
