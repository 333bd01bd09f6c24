import type { components } from '@carillon/sdk'
import { Switch } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { RequiredNumber } from '../../parts/typed-number.tsx'

export type Rate = components['schemas']['Provider']['rate']

const FIRST: NonNullable<Rate> = { limit: 100, interval_seconds: 1 }
const LIMIT_MAX = 1_000_000
const INTERVAL_S_MAX = 86_400

/** The maximum number of messages that a provider gets in an interval. */
export function RateFields({ rate, onChange }: { rate: Rate; onChange: (rate: Rate) => void }) {
  const { t } = useTranslation('providers')
  return (
    <>
      <Switch
        label={t('rate.has')}
        description={t('rate.about')}
        checked={rate !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? FIRST : null)}
      />
      {rate && (
        <div className="acts">
          <RequiredNumber
            label={t('rate.limit')}
            min={1}
            max={LIMIT_MAX}
            value={rate.limit}
            onChange={(limit) => onChange({ ...rate, limit })}
          />
          <RequiredNumber
            label={t('rate.interval')}
            min={1}
            max={INTERVAL_S_MAX}
            value={rate.interval_seconds}
            onChange={(interval_seconds) => onChange({ ...rate, interval_seconds })}
          />
        </div>
      )}
    </>
  )
}
