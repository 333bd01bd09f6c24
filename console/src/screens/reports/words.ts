import { useTranslation } from 'react-i18next'

/** A change in per cent, with its sign. */
export function useSigned(): (percent: number) => string {
  const { i18n } = useTranslation()
  const format = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1, signDisplay: 'exceptZero' })
  return (percent) => `${format.format(percent)} %`
}
