import { normaliseLocale, partsOf } from '../../lib/locales.ts'

/**
 * Chooses the template for a user (D-TPL-1), in this order: the user's locale, the user's language, the project's locale, the project's language,
 * any. A script or region that a locale leaves out is the likely one, so `zh-TW` and `zh-Hant-TW` are one locale. Within a language,
 * templates in the same script come first, and of these one without a region, then the first of the others. Templates of the user's
 * variant are used; if it has none, those of the first variant.
 */
export function chooseTemplate<T extends { locale: string; variant: number }>(
  templates: readonly T[],
  userLocale: string | null,
  projectLocale: string,
  variant: number,
): T | undefined {
  const wanted = [...(userLocale === null ? [] : preferences(userLocale)), ...preferences(projectLocale), () => true]
  const eligible = ofVariant(templates, variant)
  for (const isWanted of wanted) {
    const found = eligible.find(({ locale }) => isWanted(locale))
    if (found) return found
  }
  return undefined
}

function ofVariant<T extends { variant: number }>(templates: readonly T[], variant: number): readonly T[] {
  const own = templates.filter((template) => template.variant === variant)
  return own.length > 0 ? own : templates.filter((template) => template.variant === 0)
}

function preferences(text: string): ((locale: string) => boolean)[] {
  const [wanted, { language, script, region, hasRegion }] = [normal(text), partsOf(text)]
  const isLanguage = (locale: string) => partsOf(locale).language === language
  const isScript = (locale: string) => isLanguage(locale) && partsOf(locale).script === script
  const isGeneral = (locale: string) => !partsOf(locale).hasRegion
  return [
    (locale) => normal(locale) === wanted,
    (locale) => hasRegion && isScript(locale) && !isGeneral(locale) && partsOf(locale).region === region,
    (locale) => isScript(locale) && isGeneral(locale),
    isScript,
    (locale) => isLanguage(locale) && isGeneral(locale),
    isLanguage,
  ]
}

const normal = (locale: string) => normaliseLocale(locale).toLowerCase()
