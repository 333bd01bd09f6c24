/** The locales of the templates of a campaign. Pure. */

/** Whether it can be the locale of a template: a language tag, which has no name instead of a code. */
export function isLocale(text: string): boolean {
  if (!/^[a-z]{2,3}(?:-|$)/i.test(text)) return false
  try {
    return new Intl.Locale(text) !== undefined
  } catch {
    return false
  }
}

const withoutSpelling = (locale: string) => locale.replaceAll('_', '-').toLowerCase()

/** A locale as it is spelled among those that are stored: the server has one template for all of its spellings. */
export const spelledAs = (locale: string, stored: string[]): string | undefined =>
  stored.find((one) => one === locale) ?? stored.find((one) => withoutSpelling(one) === withoutSpelling(locale))
