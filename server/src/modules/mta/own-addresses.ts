/** The addresses by which mail hosts know this server: a refusal that names one is about the sender (D-MTA-32). */
import { ownAddresses } from '../../infra/outgoing/mx/addresses.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { egressPolicy, isAllowedAddress } from '../../lib/egress.ts'
import { distinct } from '../../lib/shapes.ts'

const NO_PRIVATE = egressPolicy([])

/** Those of the settings, and the public ones of this machine. A private one may be that of a host behind the one that replies. */
export function ownAddressesOf({ config: { MTA_ADDRESSES, MTA_SOURCE_ADDRESSES } }: Pick<Ctx, 'config'>): string[] {
  const local = [...ownAddresses()].filter((address) => isAllowedAddress(NO_PRIVATE, address))
  return distinct([...MTA_ADDRESSES, ...MTA_SOURCE_ADDRESSES, ...local].map((address) => address.toLowerCase()))
}
