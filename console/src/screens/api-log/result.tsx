import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import type { Logged } from './shown.ts'

/** The status with its error code, and whether the reply was that of an earlier request. */
export function Result({ request: { status, code, original_request } }: { request: Logged }) {
  const { t } = useTranslation('api-log')
  const tone = status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'
  return <Chip state={String(status)} reason={code ?? (original_request === null ? null : t('replayed'))} tone={tone} />
}
