/** Records as a zone file (RFC 1035 §5), which most DNS hosts import. Pure. */
import type { ExpectedRecord } from './records.ts'

const TTL_S = 3600
/** The longest string of a TXT record; longer texts are several strings. */
const STRING_LENGTH_MAX = 255

export const zoneFile = (records: readonly Pick<ExpectedRecord, 'type' | 'name' | 'value'>[]): string =>
  records.map(({ type, name, value }) => `${name}. ${TTL_S} IN ${type} ${dataOf(type, value)}\n`).join('')

function dataOf(type: ExpectedRecord['type'], value: string): string {
  return type === 'TXT' ? stringsOf(value).join(' ') : `${value}.`
}

function stringsOf(text: string): string[] {
  const strings: string[] = []
  for (let at = 0; at < text.length; at += STRING_LENGTH_MAX) {
    strings.push(`"${text.slice(at, at + STRING_LENGTH_MAX).replace(/["\\]/g, '\\$&')}"`)
  }
  return strings
}
