const COPY_CHUNK_CHARACTERS = 65_536

/** Joins lines into chunks, each of which is one write to a connection. */
export function* chunked(lines: Iterable<string>): Generator<Buffer> {
  let chunk = ''
  for (const line of lines) {
    chunk += line
    if (chunk.length >= COPY_CHUNK_CHARACTERS) {
      yield Buffer.from(chunk)
      chunk = ''
    }
  }
  if (chunk !== '') yield Buffer.from(chunk)
}
