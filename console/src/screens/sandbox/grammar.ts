/** The search of the inbox: `to:ana subject:"Time for beans" has:attachment -has:link coffee`. */
import { CHANNELS, type Channel } from '../../parts/channels.ts'

/** What the API filters by. */
export type InboxQuery = {
  q?: string
  to?: string
  subject?: string
  tag?: string
  channel?: Channel
  has_attachment?: 'true' | 'false'
  has_link?: 'true' | 'false'
}

/** A word, or a word after a name, where quotes keep spaces together. */
const TERM = /(-?)(?:(to|subject|tag|channel|has):)?(?:"([^"]*)"|([^\s"]+))/gi

/** Reads a search. What is not understood is searched for as it is; of a name that is given twice, the last one counts. */
export function queryOf(search: string): InboxQuery {
  const query: InboxQuery = {}
  const words: string[] = []
  for (const [whole, minus, name, quoted, word] of search.matchAll(TERM)) {
    const value = quoted ?? word ?? ''
    if (!assign(query, name?.toLowerCase(), value, minus === '-')) words.push(name === undefined && minus === '' ? value : whole)
  }
  return words.length === 0 ? query : { ...query, q: words.join(' ') }
}

/** Sets what a term means. Returns whether it means anything. */
function assign(query: InboxQuery, name: string | undefined, value: string, isNot: boolean): boolean {
  if (name === 'has' && (value === 'attachment' || value === 'link')) {
    query[`has_${value}`] = isNot ? 'false' : 'true'
    return true
  }
  if (isNot || value === '') return false
  if (name === 'to' || name === 'subject' || name === 'tag') {
    query[name] = value
    return true
  }
  const channel = name === 'channel' ? CHANNELS.find((one) => one === value) : undefined
  if (channel) query.channel = channel
  return channel !== undefined
}
