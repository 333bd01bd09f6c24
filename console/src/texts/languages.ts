/** The languages of the console, each by its own name. The first is the default. */
export const LANGUAGES = { 'en-AU': 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGES
