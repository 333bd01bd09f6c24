import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useConsoleWrite } from '../../parts/console-data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'
import { undoable } from '../../parts/toast.ts'
import { call } from '../../session/api.ts'
import { refreshSession, useSession } from '../../session/index.ts'
import { CreateProject } from './create-project.tsx'

/** The organisation and its projects. */
export function Organisation({ isCreating, onCreating }: { isCreating: boolean; onCreating: (isCreating: boolean) => void }) {
  const { t } = useTranslation('settings')
  const { organisation, projects, role } = useSession()
  const mayCreate = role !== 'member'
  return (
    <div className="cols two">
      <Name key={organisation.name} />
      <Card
        title={t('organisation.projects')}
        actions={
          mayCreate && (
            <Button size="xs" variant="default" onClick={() => onCreating(true)}>
              {t('create.open')}
            </Button>
          )
        }
      >
        <dl className="kv pad">
          {projects.map(({ id, name, timezone, locale, environment }) => (
            <div key={id} className="contents">
              <dt>{name}</dt>
              <dd>
                {t(`organisation.${environment}`)} · {locale} · {timezone}
              </dd>
            </div>
          ))}
        </dl>
      </Card>
      <CreateProject isOpen={isCreating && mayCreate} onClose={() => onCreating(false)} />
    </div>
  )
}

function Name() {
  const { t } = useTranslation('settings')
  const { organisation, role } = useSession()
  const [name, setName] = useState(organisation.name)
  const save = useConsoleWrite(
    ({ name }: { name: string; before?: string }) => call('PATCH', 'organisation', { name }),
    async (_, { before }) => {
      await refreshSession()
      if (before !== undefined) undoable(t('saved'), () => save.mutateAsync({ name: before }))
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ name, before: organisation.name })
  }
  return (
    <Card title={t('organisation.heading')}>
      <form className="form pad" onSubmit={submit}>
        {save.error && <Failed error={save.error} />}
        <TextInput
          label={t('organisation.name')}
          description={t(role === 'owner' ? 'organisation.about' : 'organisation.owners')}
          required
          maxLength={255}
          disabled={role !== 'owner'}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {role === 'owner' && (
          <div>
            <Button type="submit" loading={save.isPending} disabled={name === organisation.name}>
              {t('save')}
            </Button>
          </div>
        )}
      </form>
    </Card>
  )
}
