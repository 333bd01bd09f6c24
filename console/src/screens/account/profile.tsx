import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useConsoleWrite } from '../../parts/console-data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'
import { said } from '../../parts/toast.ts'
import { call } from '../../session/api.ts'
import { refreshSession, useSession } from '../../session/index.ts'

/** The name that the other members see. */
export function Profile() {
  const { t } = useTranslation('account')
  const { member } = useSession()
  const [name, setName] = useState(member.name)
  const save = useConsoleWrite(
    (name: string) => call('PATCH', 'profile', { name }),
    async () => {
      await refreshSession()
      said(t('profile.saved'))
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate(name)
  }
  return (
    <Card title={t('profile.heading')}>
      <form className="form pad" onSubmit={submit}>
        {save.error && <Failed error={save.error} />}
        <TextInput
          label={t('profile.name')}
          name="name"
          autoComplete="name"
          required
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div>
          <Button type="submit" variant="default" loading={save.isPending} disabled={name === member.name}>
            {t('save')}
          </Button>
        </div>
      </form>
    </Card>
  )
}
