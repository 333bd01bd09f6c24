import { CarillonError } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ifVersion, versionOf } from '../../parts/autosave.ts'
import { useWrite } from '../../parts/data.ts'
import { afterSave } from '../../parts/edited.ts'
import { Failed } from '../../parts/failed.tsx'
import { isSame, merge } from '../../parts/merge.ts'
import { Card } from '../../parts/page.tsx'
import { Conflict } from '../../parts/save-state.tsx'
import type { FieldSchema } from '../../parts/schema-fields.ts'
import { said } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'
import { JOURNEY, JOURNEYS, type Journey } from './search.ts'
import { Fields } from './steps/field.tsx'

type Values = Record<string, unknown>

type Stored = { settings: Values; version: string | null }
/** `isChosen`: where another member has changed the same, these settings have been chosen. */
type Write = { settings: Values; isChosen?: boolean }

const isConflict = ({ status }: CarillonError) => status === 412

/** What a form began with, and the version that had it. */
const storedOf = (journey: Journey): Stored => ({ settings: (journey.settings ?? {}) as Values, version: versionOf(journey) })

/** Who may enter and how often, who is held out, and which goals are counted. The settings are part of the draft. */
export function Settings({ journey, schema }: { journey: Journey; schema: FieldSchema }) {
  const { t } = useTranslation('journeys')
  const mayWrite = useMay(journey.status === 'draft' ? 'editor' : 'publisher')
  const [base, setBase] = useState(() => storedOf(journey))
  const [settings, setSettings] = useState(base.settings)
  const now = storedOf(journey)
  const begin = (stored: typeof base) => {
    setBase(stored)
    setSettings(stored.settings)
  }
  const path = { path: { journeyId: journey.id } }
  const save = useWrite(
    async (api, { settings, isChosen }: Write) => {
      const put = ({ settings, version }: Stored) => api.patch(JOURNEY, { ...path, body: { settings }, headers: ifVersion(version) })
      try {
        // Another change of the journey, such as of its steps, is no conflict.
        return await put({ settings, version: (isSame(now.settings, base.settings) ? now : base).version })
      } catch (thrown) {
        if (!(thrown instanceof CarillonError) || !isConflict(thrown)) throw thrown
        const theirs = storedOf(await api.get(JOURNEY, path))
        const { value, clashes } = merge(base.settings, settings, theirs.settings)
        if (clashes.length > 0 && !isChosen) throw thrown
        return put({ settings: value, version: theirs.version })
      }
    },
    [JOURNEYS],
    (saved, sent) => {
      const stored = storedOf(saved)
      setBase(stored)
      setSettings(afterSave(sent.settings, stored.settings))
      said(t('settings.done'))
    },
  )
  const discard = useWrite(
    (api) => api.get(JOURNEY, path),
    [JOURNEYS],
    (theirs) => {
      begin(storedOf(theirs))
      save.reset()
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
          save.mutate({ settings })
        }}
      >
        <p className="sm quiet">{t('settings.about')}</p>
        <fieldset className="form" disabled={!mayWrite}>
          <legend className="vh">{t('settings.heading')}</legend>
          <Fields schema={schema} value={settings} onChange={setSettings} shown={Object.keys(schema.properties ?? {})} />
        </fieldset>
        {save.error && !isConflict(save.error) && <Failed error={save.error} />}
        {save.error && isConflict(save.error) && (
          <Conflict
            isWhole
            onChoose={(side) => (side === 'mine' ? save.mutate({ settings, isChosen: true }) : discard.mutate(undefined))}
          />
        )}
        {discard.error && <Failed error={discard.error} />}
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
