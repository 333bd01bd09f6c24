import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { Failed } from '../../parts/failed.tsx'
import { useOrganisationRead, useOrganisationWrite } from '../../parts/organisation-data.ts'
import { Card } from '../../parts/page.tsx'
import { said } from '../../parts/toast.ts'
import { PROJECT, PROJECT_SIZE, type Project, type ProjectSize } from './search.ts'

/** The deletion of the project, which cannot be undone. */
export function DangerZone({ project }: { project: Project }) {
  const { t } = useTranslation('settings')
  const [isOpen, setOpen] = useState(false)
  return (
    <Card title={t('danger.heading')}>
      <div className="form pad">
        <p>{t('danger.about')}</p>
        <div>
          <Button variant="outline" color="ember" onClick={() => setOpen(true)}>
            {t('danger.open')}
          </Button>
        </div>
      </div>
      {isOpen && <DeleteProject project={project} onClose={() => setOpen(false)} />}
    </Card>
  )
}

/** Deletes a project once its name was typed, and says before what goes with it. */
function DeleteProject({ project: { id, name }, onClose }: { project: Project; onClose: () => void }) {
  const { t } = useTranslation('settings')
  const navigate = useNavigate()
  const size = useOrganisationRead(PROJECT_SIZE, { path: { projectId: id } })
  const remove = useOrganisationWrite(
    (api) => api.delete(PROJECT, { path: { projectId: id }, body: { name } }),
    () => {
      said(t('danger.done', { name }))
      return navigate({ to: '/' })
    },
  )
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('danger.title', { name })}
      action={t('danger.action')}
      typed={name}
      isLoading={size.isLoading}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
    >
      {size.error && <Failed error={size.error} />}
      {size.data && <Consequences size={size.data} />}
      <p>{t('danger.final')}</p>
    </Confirm>
  )
}

const ERASED = ['users', 'messages', 'campaigns', 'journeys', 'lists'] as const

function Consequences({ size }: { size: ProjectSize }) {
  const { t, i18n } = useTranslation('settings')
  const format = new Intl.NumberFormat(i18n.language)
  const said = (name: keyof ProjectSize) => t(`danger.${name}`, { count: size[name], number: format.format(size[name]) })
  return (
    <>
      <p>{t('danger.stops')}</p>
      <ul>
        <li>{said('keys')}</li>
        <li>{said('waiting_messages')}</li>
      </ul>
      <p>{t('danger.erases')}</p>
      <ul>
        {ERASED.map((name) => (
          <li key={name}>{said(name)}</li>
        ))}
      </ul>
    </>
  )
}
