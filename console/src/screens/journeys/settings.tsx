import { CarillonError } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ifVersion, versionOf } from '../../parts/autosave.ts'
import { useWrite } from '../../parts/data.ts'
import { afterSave } from '../../parts/edited.ts'
import { Failed } from '../../parts/failed.tsx'
import { type Clash, isSame, merge, withAt } from '../../parts/merge.ts'
import { Card } from '../../parts/page.tsx'
import { Clashes } from '../../parts/save-state.tsx'
import type { FieldSchema } from '../../parts/schema-fields.ts'
import { said } from '../../parts/toast.ts'
import { useUnsavedForm } from '../../parts/unsaved-form.ts'
import { useMay } from '../../session/project.tsx'
import { JOURNEY, JOURNEYS, type Journey } from './search.ts'
import { Fields } from './steps/field.tsx'

type Values = Record<string, unknown>

type Stored = { settings: Values; version: string | null }
/** What was saved, or what another member has saved instead, with the settings that both make and where they clash. */
type Outcome = { is: 'saved'; saved: Journey } | { is: 'conflict'; theirs: Stored; value: Values; clashes: Clash[] }

const isConflict = ({ status }: CarillonError) => status === 412

/** What a form began with, and the version that had it. */
const storedOf = (journey: Journey): Stored => ({ settings: (journey.settings ?? {}) as Values, version: versionOf(journey) })

/** Who may enter and how often, who is held out, and which goals are counted. The settings are part of the draft. */
export function Settings({ journey, schema }: { journey: Journey; schema: FieldSchema }) {
  const { t } = useTranslation('journeys')
  const mayWrite = useMay(journey.status === 'draft' ? 'editor' : 'publisher')
  const [base, setBase] = useState(() => storedOf(journey))
  const [settings, setSettings] = useState(base.settings)
  const [clashes, setClashes] = useState<Clash[]>([])
  const now = storedOf(journey)
  const begin = (stored: typeof base) => {
    setBase(stored)
    setSettings(stored.settings)
    setClashes([])
  }
  const path = { path: { journeyId: journey.id } }
  const save = useWrite(
    async (api, settings: Values): Promise<Outcome> => {
      const put = async ({ settings, version }: Stored) => ({
        is: 'saved' as const,
        saved: await api.patch(JOURNEY, { ...path, body: { settings }, headers: ifVersion(version) }),
      })
      try {
        // Another change of the journey, such as of its steps, is no conflict.
        return await put({ settings, version: (isSame(now.settings, base.settings) ? now : base).version })
      } catch (thrown) {
        if (!(thrown instanceof CarillonError) || !isConflict(thrown)) throw thrown
        const theirs = storedOf(await api.get(JOURNEY, path))
        const { value, clashes } = merge(base.settings, settings, theirs.settings)
        return clashes.length > 0 ? { is: 'conflict', theirs, value, clashes } : put({ settings: value, version: theirs.version })
      }
    },
    [JOURNEYS],
    (outcome, sent) => {
      if (outcome.is === 'conflict') {
        setBase(outcome.theirs)
        setSettings(afterSave(sent, outcome.value))
        setClashes(outcome.clashes)
        return
      }
      const stored = storedOf(outcome.saved)
      setBase(stored)
      setSettings(afterSave(sent, stored.settings))
      said(t('settings.done'))
    },
  )
  const choose = (chosen: Clash[], side: 'mine' | 'theirs') => {
    const next = side === 'mine' ? settings : chosen.reduce((value, { path, theirs }) => withAt(value, path, theirs), settings)
    const left = clashes.filter((clash) => !chosen.includes(clash))
    setSettings(next)
    setClashes(left)
    // The member has pressed Save before the question.
    if (left.length === 0 && !isSame(next, base.settings)) save.mutate(next)
  }
  const isChanged = !isSame(settings, base.settings)
  useUnsavedForm(mayWrite && isChanged)
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
        {save.error && <Failed error={save.error} />}
        {clashes.length > 0 && <Clashes clashes={clashes} choose={choose} />}
        {mayWrite && (
          <div className="acts">
            <Button variant="default" disabled={!isChanged} onClick={() => begin(base)}>
              {t('settings.discard')}
            </Button>
            <Button type="submit" loading={save.isPending} disabled={!isChanged || clashes.length > 0}>
              {t('settings.submit')}
            </Button>
          </div>
        )}
      </form>
    </Card>
  )
}
