/**
 * The template for a person (product.md §5): in exactly their locale, else in their language, else the project's locale, the
 * project's language, any. Of one language, the template for the language as such comes before regional ones; otherwise the first.
 */
export function chooseTemplate<T extends { locale: string }>(
  templates: readonly T[],
  userLocale: string | null,
  projectLocale: string,
): T | undefined {
  const wanted = [...(userLocale === null ? [] : preferences(userLocale)), ...preferences(projectLocale), () => true]
  for (const isWanted of wanted) {
    const found = templates.find(({ locale }) => isWanted(normal(locale)))
    if (found) return found
  }
  return undefined
}

function preferences(text: string): ((locale: string) => boolean)[] {
  const wanted = normal(text)
  const language = languageOf(wanted)
  return [(locale) => locale === wanted, (locale) => locale === language, (locale) => languageOf(locale) === language]
}

const normal = (locale: string) => locale.replaceAll('_', '-').toLowerCase()
const languageOf = (locale: string) => locale.split('-')[0] ?? locale
