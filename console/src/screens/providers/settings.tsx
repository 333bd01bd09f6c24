import type { components } from '@carillon/sdk'
import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'
import { SchemaForm, type Values } from '../../parts/schema-form.tsx'
import { said } from '../../parts/toast.ts'
import { PriceFields } from './price-fields.tsx'
import { RateFields } from './rate-fields.tsx'
import { type Kind, PROVIDER, PROVIDERS, type Provider } from './search.ts'

type Changes = components['schemas']['ProviderChanges']

/** What differs from the stored settings. Null removes a setting; secrets that were not typed stay. */
function changesOf(stored: Values, settings: Values): Values {
  const removed = Object.keys(stored).filter((name) => settings[name] === undefined)
  const set = Object.entries(settings).filter(([name, value]) => value !== stored[name])
  return Object.fromEntries([...removed.map((name) => [name, null]), ...set])
}

/** The settings of a provider. Stored secrets are not shown; they are replaced by typing. */
export function Settings({ provider, kind }: { provider: Provider; kind: Kind }) {
  const { t } = useTranslation('providers')
  const [name, setName] = useState(provider.name)
  const [rate, setRate] = useState(provider.rate)
  const [segment_price, setPrice] = useState(provider.segment_price)
  const isText = provider.channel === 'text'
  const [settings, setSettings] = useState<Values>(provider.settings)
  const save = useWrite(
    (api, body: Changes) => api.patch(PROVIDER, { path: { providerId: provider.id }, body }),
    [PROVIDERS],
    ({ name }) => said(t('save.done', { name })),
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ name, rate, ...(isText && { segment_price }), settings: changesOf(provider.settings, settings) as Changes['settings'] })
  }
  return (
    <Card title={t('settings')}>
      <form className="form pad" onSubmit={submit}>
        {save.error && <Failed error={save.error} />}
        <TextInput label={t('column.name')} required value={name} onChange={(event) => setName(event.currentTarget.value)} />
        <SchemaForm
          schema={kind.settings}
          value={settings}
          onChange={setSettings}
          stored={provider.has_secrets}
          faults={save.error?.faults ?? []}
          prefix="settings."
        />
        <RateFields rate={rate} onChange={setRate} />
        {isText && <PriceFields price={segment_price} onChange={setPrice} />}
        <div className="acts">
          <Button type="submit" loading={save.isPending}>
            {t('save.submit')}
          </Button>
        </div>
      </form>
    </Card>
  )
}
