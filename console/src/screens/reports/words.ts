import { useTranslation } from 'react-i18next'

/** Days as they are written in the language of the console. Days are in UTC. */
export function useDay(): (day: string) => string {
  const { i18n } = useTranslation()
  const format = new Intl.DateTimeFormat(i18n.language, { dateStyle: 'medium', timeZone: 'UTC' })
  return (day) => format.format(Date.parse(day))
}

/** A change in per cent, with its sign. */
export function useSigned(): (percent: number) => string {
  const { i18n } = useTranslation()
  const format = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1, signDisplay: 'exceptZero' })
  return (percent) => `${format.format(percent)} %`
}
