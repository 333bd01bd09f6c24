/** Does a text message say STOP, START or HELP? Pure. */

import * as registry from './keywords/index.ts'
import type { Keywords } from './keywords/keyword.ts'
import { languageFor } from './locale.ts'

const languages = { ...registry }

/** What somebody asks for by a word, and the word itself. */
export type KeywordRequest = { what: 'stop' | 'start' | 'help'; word: string }

const ENDS = /^[\p{P}\p{S}\p{White_Space}]+|[\p{P}\p{S}\p{White_Space}]+$/gu

/** Lower case, without accents, with one space between words and no punctuation at the ends. */
const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(ENDS, '')
    .replace(/\p{White_Space}+/gu, ' ')

const folder = ({ stop, start, help }: Keywords) => ({ stop: stop.map(folded), start: start.map(folded), help: help.map(folded) })

const words = new Map(Object.entries(languages).map(([language, keywords]) => [language, folder(keywords)]))

/** In case of doubt, somebody means to be left alone. */
const ORDER = ['stop', 'start', 'help'] as const

/**
 * What a whole message asks for, in the language of `locale` or in English; null when it is about something else.
 * A keyword among other words is talk: ‘please stop by’ is no STOP.
 */
export function readKeyword(text: string, locale: string): KeywordRequest | null {
  const word = folded(text)
  const known = ['en', languageFor([locale], languages)].flatMap((language) => words.get(language) ?? [])
  const what = ORDER.find((what) => known.some((language) => language[what].includes(word)))
  return what ? { what, word } : null
}

/** What is answered in the language of `locale`. */
export const repliesIn = (locale: string): Keywords['replies'] => languages[languageFor([locale], languages)].replies
