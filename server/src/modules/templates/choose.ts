/**
 * Chooses the template for a user, in this order: the user's locale, the user's language, the project's locale, the project's language,
 * any. Within a language, a template without a region comes first, then the first of the others. Templates of the user's variant are
 * used; if it has none, those of the first variant.
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
    const found = eligible.find(({ locale }) => isWanted(normal(locale)))
    if (found) return found
  }
  return undefined
}

function ofVariant<T extends { variant: number }>(templates: readonly T[], variant: number): readonly T[] {
  const own = templates.filter((template) => template.variant === variant)
  return own.length > 0 ? own : templates.filter((template) => template.variant === 0)
}

function preferences(text: string): ((locale: string) => boolean)[] {
  const wanted = normal(text)
  const language = languageOf(wanted)
  return [(locale) => locale === wanted, (locale) => locale === language, (locale) => languageOf(locale) === language]
}

const normal = (locale: string) => locale.replaceAll('_', '-').toLowerCase()
const languageOf = (locale: string) => locale.split('-')[0] ?? locale
