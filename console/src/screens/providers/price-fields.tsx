import type { components } from '@carillon/sdk'
import { Switch, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { RequiredNumber } from '../../parts/typed-number.tsx'

export type Price = components['schemas']['Provider']['segment_price']

const FIRST: NonNullable<Price> = { amount: 0.05, currency: 'AUD' }
const DECIMALS = 6
const AMOUNT_MAX = 1000

/** What a provider of text messages charges for a segment. */
export function PriceFields({ price, onChange }: { price: Price; onChange: (price: Price) => void }) {
  const { t } = useTranslation('providers')
  return (
    <>
      <Switch
        label={t('price.has')}
        description={t('price.about')}
        checked={price !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? FIRST : null)}
      />
      {price && (
        <div className="acts">
          <RequiredNumber
            label={t('price.amount')}
            min={0}
            max={AMOUNT_MAX}
            decimalScale={DECIMALS}
            step={0.01}
            value={price.amount}
            onChange={(amount) => onChange({ ...price, amount })}
          />
          <TextInput
            label={t('price.currency')}
            required
            maxLength={3}
            value={price.currency}
            onChange={(event) => onChange({ ...price, currency: event.currentTarget.value.toUpperCase() })}
          />
        </div>
      )}
    </>
  )
}
