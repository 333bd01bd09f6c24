/** Email addresses that act out what can become of a message (D-MSG-5). Nothing is sent to them. Pure. */

/** A name below `example`, which no host has (RFC 2606). */
const SIMULATOR_DOMAIN = 'simulator.carillon.example'

/** What an address acts out: the part before `@`, up to a `+`. Any other name stands for a message that is delivered. */
const SIMULATED = ['bounce', 'complaint', 'deferred', 'slow'] as const
export type Simulated = (typeof SIMULATED)[number] | 'delivered'

/** What an email address acts out; null for an address of somebody. */
export function simulatedBy(address: string): Simulated | null {
  const at = address.lastIndexOf('@')
  if (address.slice(at + 1).toLowerCase() !== SIMULATOR_DOMAIN) return null
  const name = address.slice(0, at).toLowerCase().split('+')[0]
  return SIMULATED.find((one) => one === name) ?? 'delivered'
}
