/** The request of an attempt as text, to read and to repeat. */

type Sent = { url: string; body: string; headers: Record<string, string> }

// Single quotes of a shell preserve everything except single quotes.
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

function httpOf({ url, body, headers }: Sent): string {
  const { host, pathname, search } = new URL(url)
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}`)
  return [`POST ${pathname}${search}`, ...lines, '', body].join('\n')
}

const curlOf = ({ url, body, headers }: Sent): string =>
  [
    `curl -X POST ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ].join(' \\\n  ')

/** The request in every form. The body has exactly the bytes that were signed. */
export const requestSamples = (sent: Sent): { language: string; text: string }[] => [
  { language: 'HTTP', text: httpOf(sent) },
  { language: 'curl', text: curlOf(sent) },
]
