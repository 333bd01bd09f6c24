/** Every ASCII character but capital letters: patterns ignore case. */
const ASCII = Array.from({ length: 127 }, (_, at) => String.fromCharCode(at + 1)).filter((character) => !/[A-Z]/.test(character))

const isWord = (character: string | undefined) => character !== undefined && /[a-z0-9]/i.test(character)

const escaped = (text: string) => text.replace(/[\\%_]/g, '\\$&')

/**
 * Patterns which together match exactly the ASCII texts that contain these two characters: each also has the character after them, or
 * before them if only the first is of a word. A trigram index finds these, but not two characters alone. Null for other terms.
 */
export function pairPatterns(q: string): string[] | null {
  if (!/^[ -~]{2}$/.test(q)) return null
  if (isWord(q[1])) return [`%${escaped(q)}`, ...ASCII.map((next) => `%${escaped(q + next)}%`)]
  return isWord(q[0]) ? [`${escaped(q)}%`, ...ASCII.map((before) => `%${escaped(before + q)}%`)] : null
}
