import type { components } from '@carillon/sdk'
import { Button, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { afterSave, useDraft } from '../../parts/edited.ts'
import { Failed } from '../../parts/failed.tsx'
import { changedMembers } from '../../parts/merge.ts'
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

const editableOf = ({ name, rate, segment_price, settings }: Provider) => ({ name, rate, segment_price, settings: settings as Values })

/** The settings of a provider. Stored secrets are not shown; they are replaced by typing. */
export function Settings({ provider, kind }: { provider: Provider; kind: Kind }) {
  const { t } = useTranslation('providers')
  const [draft, setDraft] = useDraft(editableOf(provider))
  const { name, rate, segment_price, settings } = draft
  const set = (changes: Partial<typeof draft>) => setDraft((draft) => ({ ...draft, ...changes }))
  const isText = provider.channel === 'text'
  const save = useWrite(
    (api, { body }: { body: Changes; sent: typeof draft }) => api.patch(PROVIDER, { path: { providerId: provider.id }, body }),
    [PROVIDERS],
    (saved, { sent }) => {
      // What was typed as a secret is not shown again.
      setDraft(afterSave(sent, editableOf(saved)))
      said(t('save.done', { name: saved.name }))
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const { settings: _, ...changes } = changedMembers(editableOf(provider), draft)
    const body = { ...(changes as Changes), settings: changesOf(provider.settings, settings) as Changes['settings'] }
    save.mutate({ body, sent: draft })
  }
  return (
    <Card title={t('settings')}>
      <form className="form pad" onSubmit={submit}>
        {save.error && <Failed error={save.error} />}
        <TextInput label={t('column.name')} required value={name} onChange={(event) => set({ name: event.currentTarget.value })} />
        <SchemaForm
          schema={kind.settings}
          value={settings}
          onChange={(settings) => set({ settings })}
          stored={provider.has_secrets}
          faults={save.error?.faults ?? []}
          prefix="settings."
        />
        <RateFields rate={rate} onChange={(rate) => set({ rate })} />
        {isText && <PriceFields price={segment_price} onChange={(segment_price) => set({ segment_price })} />}
        <div className="acts">
          <Button type="submit" loading={save.isPending}>
            {t('save.submit')}
          </Button>
        </div>
      </form>
    </Card>
  )
}
