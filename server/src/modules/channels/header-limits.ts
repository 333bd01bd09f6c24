/** The headers of emails for providers that take them as text: in ASCII, and within the limits of the provider (D-MSG-7). Pure. */
import { encodedText } from '../../lib/mime/headers.ts'
import type { Provider } from './provider.ts'

type Header = [name: string, value: string]

/** The headers as ASCII, because providers refuse other text or send it as it is. */
export const asciiHeaders = (headers: readonly Header[]): Header[] => headers.map(([name, value]) => [name, encodedText(value)])

/** Lists of Message-IDs. RFC 5322 §3.6.4 has the beginning of a thread first, and what is replied to last. */
const LISTS_OF_IDS = ['references', 'in-reply-to']

/** A value that has at most so many characters, if it is a list of ids: of a longer one, the first id and the last ones. */
export function fittingValue([name, value]: Header, charactersMax: number): string {
  if (value.length <= charactersMax || !LISTS_OF_IDS.includes(name.toLowerCase())) return value
  const [first = '', ...others] = value.trim().split(/\s+/)
  let last = ''
  for (const id of others.reverse()) {
    if (first.length + 1 + id.length + last.length > charactersMax) break
    last = ` ${id}${last}`
  }
  return first + last
}

/** A problem of one header, or of all together. */
export type HeaderProblem = { name: string | null; message: string }

/** Why a provider would refuse an email with these headers of a request; null if it would not. */
export function headerProblem(
  { label, headersMax }: Pick<Provider, 'label' | 'headersMax'>,
  requested: Readonly<Record<string, string>>,
): HeaderProblem | null {
  if (!headersMax) return null
  const headers = asciiHeaders(Object.entries(requested))
  if (headers.length > headersMax.count)
    return { name: null, message: `${label} accepts at most ${headersMax.count} such headers. Send fewer, or use another provider.` }
  const long = headers.find((header) => fittingValue(header, headersMax.characters).length > headersMax.characters)
  const [name = null] = long ?? []
  const message = `${label} accepts at most ${headersMax.characters} characters, with text that is not ASCII encoded. Send a shorter value, or use another provider.`
  return name === null ? null : { name, message }
}
