import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ifVersion, versionOf } from '../../parts/autosave.ts'
import { useWrite } from '../../parts/data.ts'
import { afterSave } from '../../parts/edited.ts'
import { Failed } from '../../parts/failed.tsx'
import { isSame } from '../../parts/merge.ts'
import { Card } from '../../parts/page.tsx'
import type { FieldSchema } from '../../parts/schema-fields.ts'
import { said } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'
import { JOURNEY, JOURNEYS, type Journey } from './search.ts'
import { Fields } from './steps/field.tsx'

type Values = Record<string, unknown>

/** What a form began with, and the version that had it. */
const storedOf = (journey: Journey) => ({ settings: (journey.settings ?? {}) as Values, version: versionOf(journey) })

/** Who may enter and how often, who is held out, and which goals are counted. The settings are part of the draft. */
export function Settings({ journey, schema }: { journey: Journey; schema: FieldSchema }) {
  const { t } = useTranslation('journeys')
  const mayWrite = useMay(journey.status === 'draft' ? 'editor' : 'publisher')
  const [base, setBase] = useState(() => storedOf(journey))
  const [settings, setSettings] = useState(base.settings)
  const now = storedOf(journey)
  // Another change of the journey, such as of its steps, is no conflict.
  const { version } = isSame(now.settings, base.settings) ? now : base
  const begin = (stored: typeof base) => {
    setBase(stored)
    setSettings(stored.settings)
  }
  const save = useWrite(
    (api, settings: Values) => api.patch(JOURNEY, { path: { journeyId: journey.id }, body: { settings }, headers: ifVersion(version) }),
    [JOURNEYS],
    (saved, sent) => {
      const stored = storedOf(saved)
      setBase(stored)
      setSettings(afterSave(sent, stored.settings))
      said(t('settings.done'))
    },
  )
  const isChanged = !isSame(settings, base.settings)
  // Of a form that was not changed, nothing is lost when others change the settings. What is typed again during a save is a change.
  if (!isChanged && !save.isPending && !isSame(now.settings, base.settings)) begin(now)
  return (
    <Card title={t('settings.heading')}>
      <form
        className="form pad"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate(settings)
        }}
      >
        <p className="sm quiet">{t('settings.about')}</p>
        <fieldset className="form" disabled={!mayWrite}>
          <legend className="vh">{t('settings.heading')}</legend>
          <Fields schema={schema} value={settings} onChange={setSettings} shown={Object.keys(schema.properties ?? {})} />
        </fieldset>
        {save.error && <Failed error={save.error} {...(save.error.status === 412 && { onRetry: () => begin(now) })} />}
        {mayWrite && (
          <div className="acts">
            <Button variant="default" disabled={!isChanged} onClick={() => setSettings(base.settings)}>
              {t('settings.discard')}
            </Button>
            <Button type="submit" loading={save.isPending} disabled={!isChanged}>
              {t('settings.submit')}
            </Button>
          </div>
        )}
      </form>
    </Card>
  )
}
