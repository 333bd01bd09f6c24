import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useConsoleRead } from '../../parts/console-data.ts'
import { Card } from '../../parts/page.tsx'
import { call } from '../../session/api.ts'
import { PasswordProof } from './password-proof.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'
import { type TotpSecret, TotpSetUp } from './totp-set-up.tsx'

type Profile = { has_totp: boolean; recovery_codes_left: number }

/** What is open in the card. */
type Step = { is: 'closed' } | { is: 'proof' } | { is: 'secret'; secret: TotpSecret } | { is: 'recovery'; codes: string[] }

/** The codes of an authenticator as a second factor. The password is asked for before it is set up or removed. */
export function SecondFactor() {
  const { t } = useTranslation('account')
  const { data } = useConsoleRead<Profile>('profile')
  const [step, setStep] = useState<Step>({ is: 'closed' })
  const isOn = data?.has_totp === true
  const close = () => setStep({ is: 'closed' })
  return (
    <Card title={t('totp.heading')} actions={isOn ? <Chip state={t('totp.on')} tone="good" /> : undefined}>
      <div className="form pad">
        <p className="quiet sm">{isOn ? t('totp.left', { count: data.recovery_codes_left }) : t('totp.about')}</p>
        {step.is === 'closed' && (
          <div>
            <Button variant="default" onClick={() => setStep({ is: 'proof' })}>
              {t(isOn ? 'totp.remove' : 'totp.begin')}
            </Button>
          </div>
        )}
        {step.is === 'proof' && isOn && (
          <PasswordProof
            action={t('totp.remove')}
            prove={(proof) => call('POST', 'profile/totp/remove', proof)}
            onDone={close}
            onCancel={close}
          />
        )}
        {step.is === 'proof' && !isOn && (
          <PasswordProof
            action={t('totp.begin')}
            prove={(proof) => call<TotpSecret>('POST', 'profile/totp/begin', proof)}
            onDone={(secret) => setStep({ is: 'secret', secret })}
            onCancel={close}
          />
        )}
        {step.is === 'secret' && <TotpSetUp secret={step.secret} onDone={(codes) => setStep({ is: 'recovery', codes })} />}
        {step.is === 'recovery' && <RecoveryCodes about={t('totp.recovery')} codes={step.codes} onKept={close} />}
      </div>
    </Card>
  )
}
