import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Code } from '../../parts/code.tsx'

type Props = { about: string; codes: string[]; onKept: () => void }

/** New recovery codes, which are shown once. */
export function RecoveryCodes({ about, codes, onKept }: Props) {
  const { t } = useTranslation('account')
  return (
    <>
      <p className="sm">{about}</p>
      <Code text={codes.join('\n')} />
      <div>
        <Button onClick={onKept}>{t('totp.kept')}</Button>
      </div>
    </>
  )
}
