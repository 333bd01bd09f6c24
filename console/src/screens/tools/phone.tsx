import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { Tool } from './tool.tsx'

/** Whether a number is one of a mobile phone. */
export function Phone() {
  const { t } = useTranslation('tools')
  const [phone, setPhone] = useState('')
  const call = useWrite((api) => api.post('/api/ext/generic/sms/phone-mobile-syntax-validator', { body: { phone } }), [])
  return (
    <Tool
      title={t('phone.title')}
      about={t('phone.about')}
      action={t('phone.action')}
      call={call}
      result={({ data: { isValid, phoneNumber, countryIso2, countryCode } }) =>
        isValid ? (
          <p className="say good">{t('phone.valid', { number: phoneNumber, country: countryIso2, code: countryCode })}</p>
        ) : (
          <p className="say warn">{t('phone.invalid')}</p>
        )
      }
    >
      <TextInput
        label={t('phone.label')}
        placeholder="+61 412 345 678"
        type="tel"
        required
        maxLength={32}
        value={phone}
        onChange={(event) => setPhone(event.currentTarget.value)}
      />
    </Tool>
  )
}
