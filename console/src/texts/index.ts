/** The texts of the console: one file for each area and language. Those of an area are loaded with its first screen. */

import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { channelTextsIn } from '../parts/channels.ts'
import { keepInBrowser } from '../session/keep.ts'
import { LANGUAGES, type Language } from './languages.ts'

const STORED = 'carillon.language'

type Texts = Record<string, unknown>
const shared = import.meta.glob<Texts>('./*.json', { import: 'default' })
const ofAreas = import.meta.glob<Texts>('../screens/*/texts/*.json', { import: 'default' })

const loaderOf = (language: string, namespace: string) =>
  namespace === 'common' ? sharedIn(language as Language) : ofAreas[`../screens/${namespace}/texts/${language}.json`]

/** The texts that every screen has: those of the frame and the parts, and those of the channels. */
const sharedIn = (language: Language) => async (): Promise<Texts> => ({
  ...(await shared[`./${language}.json`]?.()),
  channel: channelTextsIn(language),
})

/** The language that was chosen, else the first of the browser that there is. */
function currentLanguage(): Language {
  const stored = localStorage.getItem(STORED)
  const wanted = [...(stored ? [stored] : []), ...navigator.languages]
  for (const tag of wanted) {
    const found = Object.keys(LANGUAGES).find((language) => tag.split('-')[0] === language.split('-')[0])
    if (found) return found as Language
  }
  return 'en-AU'
}

/** Changes the language and remembers it in this browser. */
export async function chooseLanguage(language: Language): Promise<void> {
  keepInBrowser(STORED, language)
  await i18next.changeLanguage(language)
  document.documentElement.lang = language
}

/** Loads the texts of the frame. */
export async function startTexts(): Promise<void> {
  const language = currentLanguage()
  document.documentElement.lang = language
  await i18next
    .use({
      type: 'backend',
      init: () => undefined,
      read: (language: string, namespace: string, done: (error: unknown, texts: Texts | null) => void) => {
        const load = loaderOf(language, namespace)
        if (!load) return done(null, {})
        load().then(
          (texts) => done(null, texts),
          (error) => done(error, null),
        )
      },
    })
    .use(initReactI18next)
    .init({
      lng: language,
      fallbackLng: 'en-AU',
      load: 'currentOnly',
      supportedLngs: Object.keys(LANGUAGES),
      ns: ['common'],
      defaultNS: 'common',
      fallbackNS: 'common',
      interpolation: { escapeValue: false },
      react: { useSuspense: true },
    })
}
