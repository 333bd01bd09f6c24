import { Button, Radio, Select, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useReadAll, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { OPTIONS_MAX } from '../../parts/paging.ts'
import { useProject } from '../../session/project.tsx'
import { CAMPAIGNS } from './search.ts'

const TYPES = ['blast', 'trigger'] as const
type Type = (typeof TYPES)[number]

/** The first step of the wizard: what the campaign is. From here on everything is saved as it changes. */
export function NewCampaign() {
  const { t } = useTranslation('campaigns')
  const project = useProject()
  const navigate = useNavigate()
  const [type, setType] = useState<Type>('blast')
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const { data, error } = useReadAll('/api/client/subscriptions')
  const first = data?.find(({ channel }) => channel === 'email') ?? data?.[0]
  const subscription = chosen ?? (first ? String(first.id) : null)
  const create = useWrite(
    (api) => api.post(CAMPAIGNS, { body: { type, name: name.trim(), subscription_id: Number(subscription) } }),
    [CAMPAIGNS],
    ({ id }) =>
      void navigate({
        to: '/p/$project/campaigns/$campaignId/edit',
        params: { project: String(project.id), campaignId: String(id) },
        search: { step: 'audience' },
      }),
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(undefined)
  }
  return (
    <>
      <PageHead title={t('new.title')} crumb={t('new.title')} about={t('new.about')} />
      <Card className="narrow">
        <form className="form pad" onSubmit={submit}>
          {error && <Failed error={error} />}
          {create.error && <Failed error={create.error} />}
          <TextInput label={t('field.name')} required value={name} onChange={(event) => setName(event.currentTarget.value)} />
          <Radio.Group label={t('field.type')} value={type} onChange={(type) => setType(type as Type)}>
            {TYPES.map((type) => (
              <Radio key={type} mt="xs" value={type} label={t(`type.${type}`)} description={t(`typeAbout.${type}`)} />
            ))}
          </Radio.Group>
          <Select
            label={t('field.subscription')}
            description={t('field.subscriptionAbout')}
            data={(data ?? []).map(({ id, name, channel }) => ({
              value: String(id),
              label: `${name} · ${t(`channel.${channel}.ofCampaign`)}`,
            }))}
            value={subscription}
            allowDeselect={false}
            searchable
            limit={OPTIONS_MAX}
            onChange={setChosen}
            required
          />
          <div className="acts">
            <Button type="submit" loading={create.isPending} disabled={subscription === null}>
              {t('new.submit')}
            </Button>
          </div>
        </form>
      </Card>
    </>
  )
}
