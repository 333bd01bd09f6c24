/** Email addresses that simulate the outcomes of a message (D-MSG-5). No message leaves the server. Pure. */

/** A name below `example`, which no host has (RFC 2606). */
const SIMULATOR_DOMAIN = 'simulator.carillon.example'

/** The outcomes, by the part of the address before `@`, up to a `+`. Any other name stands for a message that is delivered. */
const SIMULATED = ['bounce', 'complaint', 'deferred', 'slow'] as const
export type Simulated = (typeof SIMULATED)[number] | 'delivered'

/** The outcome that an address of the simulator requests. Null for any other address. */
export function simulatedBy(address: string): Simulated | null {
  const at = address.lastIndexOf('@')
  if (address.slice(at + 1).toLowerCase() !== SIMULATOR_DOMAIN) return null
  const name = address.slice(0, at).toLowerCase().split('+')[0]
  return SIMULATED.find((one) => one === name) ?? 'delivered'
}
