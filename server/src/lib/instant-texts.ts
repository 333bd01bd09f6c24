/**
 * Returns a function that writes instants in ISO 8601. Those of a batch are mostly the same few: writing one takes ten times as long as looking
 * it up, and `JSON.stringify` takes longer still for each `Date`.
 */
export function instantTexts(): (instant: Date) => string {
  const texts = new Map<number, string>()
  return (instant) => {
    const ms = instant.getTime()
    const known = texts.get(ms)
    if (known !== undefined) return known
    const text = instant.toISOString()
    texts.set(ms, text)
    return text
  }
}
