/** Finds phrases in the replies of mail servers. Pure; the time is linear in the text. */

const CODES = /(?:[245]\d\d[ -])?[245]\.\d{1,3}\.\d{1,3} /g

/**
 * Lower case with single spaces, without the codes that each line of a reply begins with, and without email addresses: servers repeat those of
 * the email, whose words say nothing.
 */
export const normalised = (response: string): string =>
  response
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/\s+/g, ' ')
    .replace(CODES, '')
    .replace(/[^ <>()[\]",;:]+/g, (word) => (word.includes('@') ? '@' : word))

/** Whether a normalised text has one of these. */
export const hasAny = (text: string, phrases: readonly string[]): boolean => phrases.some((phrase) => hasPhrase(text, phrase))

const WORD = /[a-z0-9]/

/** Whether a text contains a phrase that is no part of longer words. */
function hasPhrase(text: string, phrase: string): boolean {
  for (let at = text.indexOf(phrase); at !== -1; at = text.indexOf(phrase, at + 1)) {
    if (isEdge(text, at - 1, phrase[0]) && isEdge(text, at + phrase.length, phrase.at(-1))) return true
  }
  return false
}

/** Whether a word of a phrase ends here. What begins or ends with punctuation ends anyway. */
const isEdge = (text: string, at: number, last: string | undefined): boolean => !(WORD.test(text[at] ?? ' ') && WORD.test(last ?? ' '))
