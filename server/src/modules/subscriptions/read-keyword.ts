/** Recognises STOP, START and HELP in text messages (D-SUB-3). Pure. */

import { languageFor } from '../../lib/languages.ts'
import { languagesOf } from '../../lib/locales.ts'
import { trimMatching } from '../../lib/text.ts'
import * as registry from './keywords/index.ts'
import type { Keywords } from './keywords/keyword.ts'

const languages = { ...registry }

/** A recognised keyword in its normalised form. */
export type KeywordRequest = { what: 'stop' | 'start' | 'help'; word: string }

const END = /^[\p{P}\p{S}\p{White_Space}]$/u

/** A longer text is not a keyword. Ten parts of a text message have as many characters. */
const LENGTH_MAX = 1600

/** How many polite words are looked for. */
const POLITE_MAX = 4

/** Lower case, without accents and invisible characters, with one space between words and no punctuation at the ends. */
const folded = (text: string): string =>
  trimMatching(
    text
      .normalize('NFKD')
      .replace(/[\p{M}\p{Cf}]/gu, '')
      .toLowerCase(),
    END,
  )
    .replaceAll('’', "'")
    .replace(/\p{White_Space}+/gu, ' ')

const folder = ({ stop, start, help, polite }: Keywords) => ({
  stop: stop.map(folded),
  start: start.map(folded),
  help: help.map(folded),
  polite: polite.map(folded),
})

const words = new Map(Object.entries(languages).map(([language, keywords]) => [language, folder(keywords)]))

/** Keywords of other languages that are everyday words in English. They count in the language of the project only. */
const ENGLISH_WORDS = ['fine']

const withoutEnglish = (keywords: readonly string[]) => keywords.filter((word) => !ENGLISH_WORDS.includes(word))

const regionalWords = new Map(
  [...words].map(([language, { stop, ...others }]) => [language, { ...others, stop: withoutEnglish(stop) }] as const),
)

/** The first match counts, so that a word with two meanings is an opt-out. */
const ORDER = ['stop', 'start', 'help'] as const

/**
 * Recognises a message that is only a keyword, in English, in the language of `locale`, or in one that is spoken in the regions; in the
 * last case not an everyday English word. Words such as ‘please’ may be around STOP and HELP, but not around START, which gives consent.
 * Null for anything else: ‘please stop by’ is not STOP.
 */
export function readKeyword(text: string, locale: string, regions: readonly string[] = []): KeywordRequest | null {
  // Normalising takes quadratic time for many combining marks in a row.
  if (text.length > LENGTH_MAX) return null
  const own = ['en', languageFor([locale], languages)].flatMap((language) => words.get(language) ?? [])
  const spoken = new Set(regions.flatMap(languagesOf))
  const known = [...own, ...[...spoken].flatMap((language) => regionalWords.get(language) ?? [])]
  const whole = folded(text)
  const polite = known.flatMap((language) => language.polite)
  const plain = withoutPolite(whole, polite)
  const what = ORDER.find((what) => known.some((language) => language[what].includes(what === 'start' ? whole : plain)))
  return what ? { what, word: what === 'start' ? whole : plain } : null
}

/** The text without polite words at its ends. */
function withoutPolite(text: string, polite: readonly string[]): string {
  let plain = text
  for (let found = 0; found < POLITE_MAX; found++) {
    const word = polite.find((word) => isAround(plain, word))
    if (word === undefined) break
    plain = folded(plain.startsWith(word) ? plain.slice(word.length) : plain.slice(0, -word.length))
  }
  return plain
}

/** Chinese and Japanese have no spaces between words. */
function isAround(text: string, word: string): boolean {
  if (text === word) return false
  const space = /^[\p{Script=Han}\p{Script=Hiragana}]/u.test(word) ? '' : ' '
  return text.startsWith(word + space) || text.endsWith(space + word)
}

/** The replies in the language of `locale`. */
export const repliesIn = (locale: string): Keywords['replies'] => languages[languageFor([locale], languages)].replies
