import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import type { Filter } from './filters.tsx'

const HOUR_MS = 3_600_000

/** How far back a list goes, with the hours. */
const PERIODS = { hour: 1, day: 24, week: 168, month: 720 } as const
export type Period = keyof typeof PERIODS
const NAMES = Object.keys(PERIODS) as Period[]

/** The period of an address. */
export const periodOf = (value: unknown): Period | undefined => NAMES.find((name) => name === value)

/** The beginning of a period. It stays the same until the period changes, so that the same data is read again. */
export const useSince = (period: Period | undefined): string | undefined =>
  useMemo(() => period && new Date(Date.now() - PERIODS[period] * HOUR_MS).toISOString(), [period])

/** The filter of a list by its periods. */
export function usePeriodFilter(): Filter {
  const { t } = useTranslation()
  return { id: 'period', label: t('period.label'), values: NAMES.map((value) => ({ value, label: t(`period.${value}`) })) }
}
