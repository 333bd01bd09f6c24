import { useTranslation } from 'react-i18next'

/** A number with separators between its thousands. */
export function Num({ value }: { value: number }) {
  const { i18n } = useTranslation()
  return <span className="n">{new Intl.NumberFormat(i18n.language).format(value)}</span>
}

/** A rate with its base: “4.2 % of 12,480”. Only a dash if the base is 0. */
export function Rate({ part, whole }: { part: number; whole: number }) {
  const { t, i18n } = useTranslation()
  const number = new Intl.NumberFormat(i18n.language)
  if (whole === 0) return <span className="quiet">–</span>
  const percent = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 }).format((100 * part) / whole)
  return <span className="nowrap">{t('rate', { percent, whole: number.format(whole) })}</span>
}
