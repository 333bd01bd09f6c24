import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Autosave } from './autosave.ts'
import { Failed } from './failed.tsx'

/** “Saved”, “Saving”, “Offline – kept on this device”. It is announced politely. */
export function SaveState<T>({ autosave: { state } }: { autosave: Autosave<T> }) {
  const { t } = useTranslation()
  return <output className={`savestate sm ${state}`}>{t(`autosave.${state}`)}</output>
}

/** What stands above an editor when saving failed, or when another member saved in the meantime. */
export function SaveProblem<T>({ autosave, describe }: { autosave: Autosave<T>; describe?: (mine: T, theirs: T) => ReactNode }) {
  const { t } = useTranslation()
  const { state, error, theirs, draft, resolve } = autosave
  if (state === 'failed' && error) return <Failed error={error} kept={t('autosave.kept')} />
  if (state !== 'conflict' || !theirs) return null
  return (
    <div className="say warn" role="alert">
      <div>
        <p>
          <b>{t('autosave.conflictTitle')}</b>
        </p>
        <p>{t('autosave.conflictAbout')}</p>
        {describe?.(draft, theirs.value)}
        <div className="acts">
          <Button variant="default" size="xs" onClick={() => resolve(draft)}>
            {t('autosave.mine')}
          </Button>
          <Button variant="default" size="xs" onClick={() => resolve(theirs.value)}>
            {t('autosave.theirs')}
          </Button>
        </div>
      </div>
    </div>
  )
}
