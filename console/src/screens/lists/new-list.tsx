import { Button, TextInput } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { isSame } from '../../parts/merge.ts'
import { PageHead } from '../../parts/page.tsx'
import { type Draft, FIRST_RULE, isComplete, type Rule } from '../../parts/rules/rule.ts'
import { useUnsavedForm } from '../../parts/unsaved-form.ts'
import { useProject } from '../../session/project.tsx'
import { Builder } from './builder.tsx'

const route = getRouteApi('/member/p/$project/lists/new')

/** Creates a dynamic list. */
export function NewList() {
  const { t } = useTranslation('lists')
  const params = { project: String(useProject().id) }
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const { rule: given } = route.useSearch()
  const [begun] = useState<Draft>(() => given ?? FIRST_RULE)
  const [rule, setRule] = useState(begun)
  const create = useWrite(
    (api) => api.post('/api/client/lists', { body: { name, type: 'dynamic', rule: rule as unknown as Rule } }),
    ['/api/client/lists'],
    ({ id }) => void navigate({ to: '/p/$project/lists/$listId', params: { ...params, listId: String(id) } }),
  )
  // What is being created is not lost: its page is opened next.
  useUnsavedForm(create.status !== 'pending' && create.status !== 'success' && (name !== '' || !isSame(rule, begun)))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(undefined)
  }
  return (
    <>
      <PageHead title={t('new.title')} crumb={t('new.title')} about={t('new.about')} />
      <form className="tools naming" onSubmit={submit}>
        <TextInput
          aria-label={t('new.name')}
          placeholder={t('new.name')}
          required
          maxLength={255}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" loading={create.isPending} disabled={!isComplete(rule)}>
          {t('create.submit')}
        </Button>
        {!isComplete(rule) && <span className="quiet sm">{t('new.incomplete')}</span>}
      </form>
      {create.error && <Failed error={create.error} />}
      <Builder rule={rule} onChange={setRule} />
    </>
  )
}
