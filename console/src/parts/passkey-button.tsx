import { Button } from '@mantine/core'
import { IconFingerprint } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { signInWithPasskey, wasDismissed } from '../session/passkeys.ts'
import { Failed } from './failed.tsx'
import { hasPasskeys, useWaysIn } from './ways-in.ts'

/** Signs in with a passkey. Shown only if passkeys work on this page. */
export function PasskeyButton({ onDone }: { onDone: () => unknown }) {
  const { t } = useTranslation()
  const ways = useWaysIn()
  const signIn = useMutation({ mutationFn: signInWithPasskey, onSuccess: () => onDone() })
  if (!hasPasskeys(ways)) return null
  return (
    <>
      {signIn.error && !wasDismissed(signIn.error) && <Failed error={signIn.error} />}
      <Button
        variant="default"
        fullWidth
        leftSection={<IconFingerprint size={16} stroke={1.5} aria-hidden />}
        loading={signIn.isPending}
        onClick={() => signIn.mutate()}
      >
        {t('signIn.passkey')}
      </Button>
    </>
  )
}
