/** The best content encoding that a client accepts, by its `Accept-Encoding`; null for none. */
export function encodingFor(header: string | string[] | undefined): 'br' | 'gzip' | null {
  const accepted = new Set(
    String(header ?? '')
      .toLowerCase()
      .split(',')
      .map(acceptedName),
  )
  return accepted.has('br') ? 'br' : accepted.has('gzip') ? 'gzip' : null
}

/** The name of one encoding, or null if its quality is 0, which refuses it. */
function acceptedName(item: string): string | null {
  const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
  return parameters.some((parameter) => parameter.startsWith('q=') && Number(parameter.slice(2)) === 0) ? null : name
}
