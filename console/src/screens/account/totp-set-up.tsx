import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { renderSVG } from 'uqr'
import { useConsoleWrite } from '../../parts/console-data.ts'
import { Copyable } from '../../parts/copy.tsx'
import { Failed } from '../../parts/failed.tsx'
import { call } from '../../session/api.ts'

export type TotpSecret = { secret: string; url: string }

/** The secret for the authenticator, and the first code as the proof that it has it. */
export function TotpSetUp({ secret: { secret, url }, onDone }: { secret: TotpSecret; onDone: (recoveryCodes: string[]) => void }) {
  const { t } = useTranslation('account')
  const [code, setCode] = useState('')
  const confirm = useConsoleWrite(
    (code: string) => call<{ recovery_codes: string[] }>('POST', 'profile/totp/confirm', { code }),
    ({ recovery_codes }) => onDone(recovery_codes),
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    confirm.mutate(code.trim())
  }
  return (
    <form className="form" onSubmit={submit}>
      <img className="qr" src={`data:image/svg+xml,${encodeURIComponent(renderSVG(url))}`} alt={t('totp.qr')} width={176} height={176} />
      <p className="sm">
        {t('totp.byHand')} <Copyable value={secret} label={t('totp.copySecret')} />
      </p>
      {confirm.error && <Failed error={confirm.error} />}
      <TextInput
        label={t('signIn.code')}
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      <div>
        <Button type="submit" loading={confirm.isPending}>
          {t('totp.confirm')}
        </Button>
      </div>
    </form>
  )
}
