/** What people text to be left alone, to come back, or to learn more, in one language; and what they are answered. */
export type Keywords = {
  stop: readonly string[]
  start: readonly string[]
  help: readonly string[]
  /** `{brand}` is the sender. */
  replies: { stopped: string; started: string; help: string }
}

/** Declares the keywords of a language; words are spelt as people spell them. */
export const keywords = (definition: Keywords): Keywords => definition
