/** The texts of the console: one file for each area and language. Those of an area are loaded with its first screen. */
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'

/** The languages, each by its own name. The first is the default. */
export const LANGUAGES = { 'en-AU': 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGES

const STORED = 'carillon.language'

type Texts = Record<string, unknown>
const shared = import.meta.glob<Texts>('./*.json', { import: 'default' })
const ofAreas = import.meta.glob<Texts>('../screens/*/texts/*.json', { import: 'default' })

const loaderOf = (language: string, namespace: string) =>
  namespace === 'common' ? shared[`./${language}.json`] : ofAreas[`../screens/${namespace}/texts/${language}.json`]

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
  localStorage.setItem(STORED, language)
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
