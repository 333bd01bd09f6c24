/** Characters without width: authors use them to pad preheaders and to say where words may break. */

const INVISIBLE = /\u00AD|\u034F|\u200B|\u2060|\uFEFF/g
const JOINERS = /[\u200C\u200D]+/g
/** What joiners change: letters of Persian and of the scripts of India, and emoji. */
const JOINED_BEFORE = /[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u
const JOINED_AFTER = /^[\p{L}\p{M}\p{Extended_Pictographic}]/u
const LATIN_BEFORE = /\p{Script=Latin}$/u
const LATIN_AFTER = /^\p{Script=Latin}/u
const EDGE = /^(?:\s|$)/

/** The text without invisible characters. Joiners stay where they change how their neighbours look. */
export const withoutInvisible = (text: string): string =>
  text.replace(INVISIBLE, '').replace(JOINERS, (joiners, at: number, whole: string) => {
    const [before, next] = [whole.slice(Math.max(0, at - 2), at), whole.slice(at + joiners.length, at + joiners.length + 2)]
    if (EDGE.test(next) || EDGE.test(before.slice(-1))) return ''
    const isJoined = (JOINED_BEFORE.test(before) && !LATIN_BEFORE.test(before)) || (JOINED_AFTER.test(next) && !LATIN_AFTER.test(next))
    return isJoined ? joiners : ''
  })
