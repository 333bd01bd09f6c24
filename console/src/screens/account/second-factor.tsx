import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { renderSVG } from 'uqr'
import { Chip } from '../../parts/chip.tsx'
import { Code } from '../../parts/code.tsx'
import { Copyable } from '../../parts/copy.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'
import { call } from '../../session/api.ts'
import { useAccountRead, useAccountWrite } from './data.ts'

type Profile = { totp_enabled: boolean }
type Begun = { secret: string; url: string }

/** The codes of an authenticator as a second factor. */
export function SecondFactor() {
  const { t } = useTranslation('account')
  const { data } = useAccountRead<Profile>('profile')
  const [begun, setBegun] = useState<Begun | null>(null)
  const [recovery, setRecovery] = useState<string[] | null>(null)
  const begin = useAccountWrite(() => call<Begun>('POST', 'totp'), setBegun)
  const remove = useAccountWrite(() => call('DELETE', 'totp'))
  const isOn = data?.totp_enabled === true
  return (
    <Card title={t('totp.heading')} actions={isOn ? <Chip state={t('totp.on')} tone="good" /> : undefined}>
      <div className="form pad">
        <p className="quiet sm">{t('totp.about')}</p>
        {begin.error && <Failed error={begin.error} />}
        {remove.error && <Failed error={remove.error} />}
        {recovery && (
          <>
            <p className="sm">{t('totp.recovery')}</p>
            <Code text={recovery.join('\n')} />
          </>
        )}
        {begun && !isOn && (
          <Confirmation
            begun={begun}
            onDone={(codes) => {
              setBegun(null)
              setRecovery(codes)
            }}
          />
        )}
        <div>
          {isOn ? (
            <Button variant="default" color="ember" loading={remove.isPending} onClick={() => remove.mutate(undefined)}>
              {t('totp.remove')}
            </Button>
          ) : (
            !begun && (
              <Button variant="default" loading={begin.isPending} onClick={() => begin.mutate(undefined)}>
                {t('totp.begin')}
              </Button>
            )
          )}
        </div>
      </div>
    </Card>
  )
}

function Confirmation({ begun: { secret, url }, onDone }: { begun: Begun; onDone: (recovery: string[]) => void }) {
  const { t } = useTranslation('account')
  const [code, setCode] = useState('')
  const confirm = useAccountWrite(
    (code: string) => call<{ recovery_codes: string[] }>('POST', 'totp/confirm', { code }),
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
