/** Recognises STOP, START and HELP in text messages. Pure. */

import { trimMatching } from '../../lib/text.ts'
import * as registry from './keywords/index.ts'
import type { Keywords } from './keywords/keyword.ts'
import { languageFor } from './locale.ts'

const languages = { ...registry }

/** A recognised keyword in its normalised form. */
export type KeywordRequest = { what: 'stop' | 'start' | 'help'; word: string }

const END = /^[\p{P}\p{S}\p{White_Space}]$/u

/** A longer text is not a keyword. Ten parts of a text message have as many characters. */
const LENGTH_MAX = 1600

/** Lower case, without accents, with one space between words and no punctuation at the ends. */
const folded = (text: string): string =>
  trimMatching(text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase(), END).replace(/\p{White_Space}+/gu, ' ')

const folder = ({ stop, start, help }: Keywords) => ({ stop: stop.map(folded), start: start.map(folded), help: help.map(folded) })

const words = new Map(Object.entries(languages).map(([language, keywords]) => [language, folder(keywords)]))

/** The first match counts, so that a word with two meanings is an opt-out. */
const ORDER = ['stop', 'start', 'help'] as const

/**
 * Recognises a message that is only a keyword, in English or the language of `locale`. Null for anything else: ‘please stop by’ is no STOP.
 */
export function readKeyword(text: string, locale: string): KeywordRequest | null {
  // Normalising takes quadratic time for many combining marks in a row.
  if (text.length > LENGTH_MAX) return null
  const word = folded(text)
  const known = ['en', languageFor([locale], languages)].flatMap((language) => words.get(language) ?? [])
  const what = ORDER.find((what) => known.some((language) => language[what].includes(word)))
  return what ? { what, word } : null
}

/** The replies in the language of `locale`. */
export const repliesIn = (locale: string): Keywords['replies'] => languages[languageFor([locale], languages)].replies
