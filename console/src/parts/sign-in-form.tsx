import type { CarillonError } from '@carillon/sdk'
import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '../session/api.ts'
import { Failed } from './failed.tsx'
import { PasskeyButton } from './passkey-button.tsx'

type Given = { email: string; password: string; code?: string }

/** Email, password and, where the member has set it up, the code of an authenticator. Password managers and pasting work (WCAG 3.3.8). */
export function SignInForm({ email: known, onDone }: { email?: string; onDone: () => unknown }) {
  const { t } = useTranslation()
  const [email, setEmail] = useState(known ?? '')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const signIn = useMutation<unknown, CarillonError, Given>({
    mutationFn: (given) => call('POST', 'sign-in', given),
    onSuccess: () => onDone(),
  })
  const needsCode = isForCode(signIn.error) || code !== ''
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate({ email, password, ...(code !== '' && { code: code.trim() }) })
  }
  return (
    <form className="form" onSubmit={submit}>
      {signIn.error && !(isForCode(signIn.error) && code === '') && <Failed error={signIn.error} />}
      <TextInput
        label={t('signIn.email')}
        type="email"
        name="email"
        autoComplete="username"
        required
        readOnly={known !== undefined}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <PasswordInput
        label={t('signIn.password')}
        name="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        visibilityToggleButtonProps={{ 'aria-label': t('signIn.show') }}
      />
      {needsCode && (
        <TextInput
          label={t('signIn.code')}
          description={t('signIn.codeAbout')}
          name="code"
          autoComplete="one-time-code"
          inputMode="numeric"
          required
          data-autofocus
          autoFocus
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
      )}
      <Button type="submit" loading={signIn.isPending} fullWidth>
        {t('signIn.submit')}
      </Button>
      <PasskeyButton onDone={onDone} />
    </form>
  )
}

/** The password was right, and the second factor is missing. */
const isForCode = (error: CarillonError | null) =>
  error?.reason === 'code_required' || error?.reason === 'passkey_required' || error?.param === 'code'
