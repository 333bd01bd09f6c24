/**
 * The template for a person (product.md §5): in exactly their locale, else in their language, else the project's locale, the
 * project's language, any. Of one language, the template for the language as such comes before regional ones; otherwise the first.
 * Of the variant that fell to them, as far as it has any; else of the first one.
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
