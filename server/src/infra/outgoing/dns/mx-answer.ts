/** Which hosts take the email of a domain, from its MX records (D-MTA-20). Pure. */
import { dnsName } from '../../../lib/urls.ts'
import type { MxAnswer, MxHost } from './answers.ts'

/** The name of the root, which a null MX has. */
const ROOT = '.'

/** `random` returns numbers from 0 up to but not including 1. */
export function mxAnswer(
  records: readonly { preference: number; exchange: string }[],
  { isSecure, ttlS }: { isSecure: boolean; ttlS: number },
  random: () => number,
): MxAnswer {
  const isNull = ({ exchange }: { exchange: string }) => exchange === ROOT || exchange === ''
  if (records.length > 0 && records.every(isNull)) return { is: 'null-mx' }
  if (records.some(isNull)) return { is: 'failed', reason: 'The domain has a null MX record as well as other MX records.' }
  const hosts = records.map(({ preference, exchange }) => ({ host: dnsName(exchange), preference })).filter(isUsable)
  if (hosts.length === 0) return { is: 'failed', reason: 'The domain’s MX records contain no valid host name.' }
  return { is: 'hosts', hosts: inOrder(hosts, random), isImplicit: false, isSecure, ttlS }
}

const isUsable = (host: { host: string | null; preference: number }): host is MxHost => host.host !== null

/** The preferred hosts first, each once; equal ones in random order, so that they share the load. */
function inOrder(hosts: MxHost[], random: () => number): MxHost[] {
  const sorted = hosts
    .map((host) => ({ host, at: random() }))
    .sort((a, b) => a.host.preference - b.host.preference || a.at - b.at)
    .map(({ host }) => host)
  return sorted.filter(({ host }, index) => sorted.findIndex((other) => other.host === host) === index)
}
