import { expect, test } from 'vitest'
import { pairPatterns } from './pair-patterns.ts'

/** Whether a text is `like` one of the patterns, without regard to case. */
const isLike = (text: string, patterns: string[]) =>
  patterns.some((pattern) => {
    const [starts, ends] = [!pattern.startsWith('%'), !/(?<!\\)(\\\\)*%$/.test(pattern)]
    const part = pattern.slice(starts ? 0 : 1, ends ? undefined : -1).replace(/\\(.)/g, '$1')
    const found = text.toLowerCase()
    return starts ? found.startsWith(part.toLowerCase()) : ends ? found.endsWith(part.toLowerCase()) : found.includes(part.toLowerCase())
  })

test.each(['zq', 'ZQ', 'a_', 'a%', 'a\\', '@z', '%z', '_z', '\\z', '4 ', '.c'])('the patterns for %j match what contains it', (pair) => {
  const patterns = pairPatterns(pair) as string[]
  for (const text of [
    pair,
    `x${pair}`,
    `${pair}x`,
    `-${pair}.`,
    `a\u001f${pair}\u001fb`,
    `A${pair.toUpperCase()}B`,
    `\\${pair}%`,
    `${pair}${pair}`,
  ])
    expect(isLike(text, patterns), text).toBe(true)
  for (const text of ['', pair[0] as string, `${pair[1]}${pair[0]}`, `${pair[0]}~${pair[1]}`])
    expect(isLike(text, patterns), text).toBe(text.toLowerCase().includes(pair.toLowerCase()))
})

test.each(['', 'a', 'abc', 'é1', '1é', '@.', '  ', 'a\n'])('%j has none', (q) => {
  expect(pairPatterns(q)).toBeNull()
})
