import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { leaveForProvider } from '../session/single-sign-on.ts'
import { Failed } from './failed.tsx'
import { SignInForm } from './sign-in-form.tsx'
import { useWaysIn } from './ways-in.ts'

/** The ways to sign in: the form, unless the server has none, and the provider of single sign-on. `to` is where the member wants to go. */
export function SignInWays({ email, to, onDone }: { email?: string; to: string; onDone: () => unknown }) {
  const { t } = useTranslation()
  const ways = useWaysIn()
  const leave = useMutation({ mutationFn: () => leaveForProvider(to) })
  return (
    <>
      {ways?.local !== false && <SignInForm {...(email !== undefined && { email })} onDone={onDone} />}
      {ways && ways.single_sign_on !== null && (
        <div className="form after">
          {leave.error && <Failed error={leave.error} />}
          <Button variant={ways.local ? 'default' : 'filled'} fullWidth loading={leave.isPending} onClick={() => leave.mutate()}>
            {t('signIn.provider', { name: ways.single_sign_on })}
          </Button>
        </div>
      )}
    </>
  )
}
