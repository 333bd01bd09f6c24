/** The keywords for opting out, opting in and help in one language, and the replies. */
export type Keywords = {
  stop: readonly string[]
  start: readonly string[]
  help: readonly string[]
  /** Words that may stand before or after a request to stop or for help, such as ‘please’. */
  polite: readonly string[]
  /** `{brand}` is the name of the sender. */
  replies: { stopped: string; started: string; help: string }
}

/** Declares the keywords of a language, in their usual spelling. */
export const keywords = (definition: Keywords): Keywords => definition
