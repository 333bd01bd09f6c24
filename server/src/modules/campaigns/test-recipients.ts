/** Where test messages of a key may go that cannot send a campaign (D-CAMP-8). Pure. */
import type { Channel } from '../../lib/channels.ts'
import { mailboxesIn, type Rendered } from '../channels/index.ts'

/** The addresses that a message goes to: those of an email with its copies, the URL of a webhook, otherwise the recipient. */
function reachedBy({ channel, recipient, content: { cc, bcc } }: Rendered): string[] {
  if (channel === 'webhook') return [new URL(recipient).origin]
  if (channel !== 'email') return [recipient]
  const copies = [cc, bcc].flatMap((line) => (typeof line === 'string' ? mailboxesIn(line) : []))
  return [recipient, ...copies.map(({ address }) => address)]
}

/** Channels whose recipients are external ids, of which `KIM` and `Kim` are two. */
const HAS_CASE: readonly Channel[] = ['push', 'in_app']

/** The first address of a message that `allowed`, the `test_recipients` of the project, does not contain; undefined if it contains all. */
export function addressNotAllowed(message: Rendered, allowed: readonly string[]): string | undefined {
  const folded = (text: string) => (HAS_CASE.includes(message.channel) ? text : text.toLowerCase())
  const entries = new Set(allowed.map(folded))
  return reachedBy(message).find((address) => {
    const name = folded(address)
    const domain = message.channel === 'email' ? name.slice(name.lastIndexOf('@')) : name
    return !entries.has(name) && !entries.has(domain)
  })
}
