import { NumberInput, Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Campaign } from '../search.ts'

type MailRetries = NonNullable<Campaign['mail_retries']>

/** The schedule of bulk email without retries of its own. */
const FIRST: MailRetries = { after_minutes: [5, 15, 45, 120, 240, 480], for_hours: 24 }
const HOURS_MAX = 120
const MINUTES = /^\d{1,4}(?:[,;\s]+\d{1,4}){0,19}$/

const minutesIn = (text: string): number[] | null => {
  const trimmed = text.trim()
  return MINUTES.test(trimmed) ? trimmed.split(/[,;\s]+/).map(Number) : null
}

/** The times at which a deferred email is tried again, if they are not the default ones. */
export function Retries({ retries, onChange }: { retries: MailRetries | null; onChange: (retries: MailRetries | null) => void }) {
  const { t } = useTranslation('campaigns')
  const [text, setText] = useState<string | null>(null)
  const shown = text ?? retries?.after_minutes.join(', ') ?? ''
  const write = (written: string) => {
    setText(written)
    const minutes = minutesIn(written)
    if (retries && minutes) onChange({ ...retries, after_minutes: minutes })
  }
  return (
    <>
      <Switch
        label={t('retries.has')}
        description={t('retries.about')}
        checked={retries !== null}
        onChange={(event) => {
          setText(null)
          onChange(event.currentTarget.checked ? FIRST : null)
        }}
      />
      {retries && (
        <>
          <TextInput
            label={t('retries.after')}
            description={t('retries.afterAbout')}
            value={shown}
            error={minutesIn(shown) ? undefined : t('retries.afterWrong')}
            onChange={(event) => write(event.currentTarget.value)}
          />
          <NumberInput
            label={t('retries.hours')}
            description={t('retries.hoursAbout')}
            min={1}
            max={HOURS_MAX}
            allowDecimal={false}
            value={retries.for_hours}
            onChange={(hours) => typeof hours === 'number' && hours > 0 && onChange({ ...retries, for_hours: hours })}
          />
        </>
      )}
    </>
  )
}
