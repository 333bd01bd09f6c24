import type { CarillonError } from '@carillon/sdk'
import { Button, Divider } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Failed } from '../../parts/failed.tsx'
import { canUsePasskeys, signInWithPasskey } from '../../session/passkeys.ts'

/** Signs in with a passkey, where the browser has them. */
export function PasskeyButton({ onDone }: { onDone: () => unknown }) {
  const { t } = useTranslation('sign-in')
  const signIn = useMutation<unknown, CarillonError>({ mutationFn: signInWithPasskey, onSuccess: () => onDone() })
  if (!canUsePasskeys()) return null
  return (
    <>
      <Divider label={t('or')} my="md" />
      {signIn.error && <Failed error={signIn.error} />}
      <Button variant="default" fullWidth loading={signIn.isPending} onClick={() => signIn.mutate()}>
        {t('passkey')}
      </Button>
    </>
  )
}
