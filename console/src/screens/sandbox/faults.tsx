import { Button } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { useDraft } from '../../parts/edited.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { RequiredNumber } from '../../parts/typed-number.tsx'
import { useUndoableWrite } from '../../parts/undoable-write.ts'
import { refreshSession } from '../../session/index.ts'
import { useMay } from '../../session/project.tsx'

const PATH = '/api/client/sandbox/fault-policy'
const FIELDS = ['bounce_percent', 'complaint_percent', 'soft_fail_percent', 'delay_seconds'] as const
const NONE = { bounce_percent: 0, complaint_percent: 0, soft_fail_percent: 0, delay_seconds: 0 }
type Stored = typeof NONE

/** The shares of messages that the sandbox lets bounce, complains about, defers or delays. */
export function Faults() {
  const { t } = useTranslation('sandbox')
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="pad sm outcomes" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('faults.title')}</summary>
      <p className="quiet">{t('faults.about')}</p>
      {isOpen && <Opened />}
    </details>
  )
}

/** Read when it is opened: most who look at the inbox do not. */
function Opened() {
  const { data, error, refetch } = useRead(PATH, undefined)
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  return data ? <Form stored={data} /> : <Loading />
}

function Form({ stored }: { stored: Stored }) {
  const { t } = useTranslation('sandbox')
  const isFixed = !useMay('admin')
  const [draft, setDraft] = useDraft(stored)
  const save = useUndoableWrite(
    {
      read: (api) => api.get(PATH),
      write: async (api, faults: Stored) => {
        await api.put(PATH, { body: faults })
        // The strip on top says whether there are any.
        await refreshSession()
      },
    },
    [PATH],
    t('faults.done'),
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ value: draft, before: stored })
  }
  const isOn = FIELDS.some((name) => stored[name] > 0)
  return (
    <form className="form" onSubmit={submit}>
      <div className="two">
        {FIELDS.map((name) => (
          <RequiredNumber
            key={name}
            label={t(`faults.of.${name}`)}
            suffix={t(name === 'delay_seconds' ? 'faults.seconds' : 'faults.percent')}
            min={0}
            max={name === 'delay_seconds' ? 10 : 100}
            allowDecimal={false}
            disabled={isFixed}
            value={draft[name]}
            onChange={(value) => setDraft({ ...draft, [name]: value })}
          />
        ))}
      </div>
      {save.error && <Failed error={save.error} />}
      {!isFixed && (
        <div className="acts">
          <Button type="submit" size="xs" loading={save.isPending} disabled={JSON.stringify(draft) === JSON.stringify(stored)}>
            {t('faults.submit')}
          </Button>
          {isOn && (
            <Button size="xs" variant="default" onClick={() => save.mutate({ value: NONE, before: stored })}>
              {t('faults.off')}
            </Button>
          )}
        </div>
      )}
    </form>
  )
}
