import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useConsoleRead } from '../../parts/console-data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { hasPasskeys, useWaysIn } from '../../parts/ways-in.ts'
import { call } from '../../session/api.ts'
import { addPasskey, type Passkey } from '../../session/passkeys.ts'
import { browserName } from './browser-name.ts'
import { PasswordProof } from './password-proof.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'

/** What is open in the card. */
type Step = { is: 'closed' } | { is: 'adding' } | { is: 'removing'; passkey: Passkey } | { is: 'recovery'; codes: string[] }

/** The passkeys of the member. The password is asked for before one is added or removed. */
export function Passkeys() {
  const { t } = useTranslation('account')
  const { data, error, isPending, refetch } = useConsoleRead<{ results: Passkey[] }>('profile/passkeys')
  const canAdd = hasPasskeys(useWaysIn())
  const [step, setStep] = useState<Step>({ is: 'closed' })
  const close = () => setStep({ is: 'closed' })
  const show = (codes: string[]) => setStep(codes.length > 0 ? { is: 'recovery', codes } : { is: 'closed' })
  return (
    <Card title={t('passkeys.heading')}>
      {isPending && <Loading />}
      {error && <Failed error={error} onRetry={() => void refetch()} />}
      {data && data.results.length > 0 && <Listed passkeys={data.results} onRemove={(passkey) => setStep({ is: 'removing', passkey })} />}
      <div className="form pad">
        <p className="quiet sm">{t(canAdd ? 'passkeys.about' : 'passkeys.elsewhere')}</p>
        {step.is === 'closed' && canAdd && (
          <div>
            <Button variant="default" onClick={() => setStep({ is: 'adding' })}>
              {t('passkeys.add')}
            </Button>
          </div>
        )}
        {step.is === 'adding' && <Adding onDone={show} onCancel={close} />}
        {step.is === 'removing' && (
          <PasswordProof
            action={t('passkeys.removeNamed', { name: step.passkey.name })}
            prove={(proof) => call('POST', `profile/passkeys/${step.passkey.id}/remove`, proof)}
            onDone={close}
            onCancel={close}
          />
        )}
        {step.is === 'recovery' && <RecoveryCodes about={t('passkeys.recovery')} codes={step.codes} onKept={close} />}
      </div>
    </Card>
  )
}

/** Asks for a name and the password, and has the browser make the passkey. */
function Adding({ onDone, onCancel }: { onDone: (recoveryCodes: string[]) => void; onCancel: () => void }) {
  const { t } = useTranslation('account')
  const [name, setName] = useState(() => browserName(navigator.userAgent))
  return (
    <>
      <TextInput
        label={t('passkeys.name')}
        description={t('passkeys.nameAbout')}
        value={name}
        maxLength={255}
        required
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <PasswordProof
        action={t('passkeys.add')}
        prove={(proof) => addPasskey(name, proof)}
        onDone={({ recovery_codes }) => onDone(recovery_codes)}
        onCancel={onCancel}
      />
    </>
  )
}

function Listed({ passkeys, onRemove }: { passkeys: Passkey[]; onRemove: (passkey: Passkey) => void }) {
  const { t } = useTranslation('account')
  return (
    <table className="rows" aria-label={t('passkeys.heading')}>
      <thead>
        <tr>
          <th scope="col">{t('passkeys.name')}</th>
          <th scope="col">{t('passkeys.created')}</th>
          <th scope="col">{t('passkeys.used')}</th>
          <th scope="col">
            <span className="vh">{t('passkeys.remove')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {passkeys.map((passkey) => (
          <tr key={passkey.id}>
            <th scope="row">{passkey.name}</th>
            <td>
              <Time at={passkey.created_at} />
            </td>
            <td>{passkey.used_at === null ? <span className="quiet">{t('passkeys.never')}</span> : <Time at={passkey.used_at} />}</td>
            <td className="num">
              <Button
                size="xs"
                variant="default"
                aria-label={t('passkeys.removeNamed', { name: passkey.name })}
                onClick={() => onRemove(passkey)}
              >
                {t('passkeys.remove')}
              </Button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
