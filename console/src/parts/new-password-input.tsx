import { PasswordInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** The shortest password that the server takes. */
const PASSWORD_LENGTH_MIN = 12

type Props = { value: string; onChange: (value: string) => void; error?: string }

/** A new password. Its length is all that counts: no rules about kinds of characters. */
export function NewPasswordInput({ value, onChange, error }: Props) {
  const { t } = useTranslation()
  return (
    <PasswordInput
      label={t('signIn.newPassword')}
      description={t('signIn.newPasswordAbout', { count: PASSWORD_LENGTH_MIN })}
      name="new-password"
      autoComplete="new-password"
      required
      minLength={PASSWORD_LENGTH_MIN}
      error={error}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      visibilityToggleButtonProps={{ 'aria-label': t('signIn.show') }}
    />
  )
}
