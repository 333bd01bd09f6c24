import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Autosave } from './autosave.ts'
import { Failed } from './failed.tsx'
import type { Clash } from './merge.ts'

/** “Saved”, “Saving”, “Offline – kept on this device”. It is announced politely. */
export function SaveState<T>({ autosave: { state } }: { autosave: Autosave<T> }) {
  const { t } = useTranslation()
  return <output className={`savestate sm ${state}`}>{t(`autosave.${state}`)}</output>
}

/**
 * What stands above an editor when saving failed, or when another member has changed the same. `nameOf` gives the name of a field as the
 * editor shows it.
 */
export function SaveProblem<T>({ autosave, nameOf = pathOf }: { autosave: Autosave<T>; nameOf?: (path: string[]) => string }) {
  const { t } = useTranslation()
  const { state, error, clashes, choose } = autosave
  if (state === 'failed' && error) return <Failed error={error} kept={t('autosave.kept')} />
  if (state !== 'conflict') return null
  return (
    <Conflict isWhole={clashes.length > 1} onChoose={(side) => choose(clashes, side)}>
      {clashes.map((clash) => (
        <ClashOf key={clash.path.join('.')} clash={clash} name={nameOf(clash.path)} onChoose={(side) => choose([clash], side)} />
      ))}
    </Conflict>
  )
}

const pathOf = (path: string[]) => path.join(' › ')

type Choose = (side: 'mine' | 'theirs') => void

type ConflictProps = {
  /** Whether one of the two versions can be taken as a whole. */
  isWhole: boolean
  onChoose: Choose
  /** What differs, in both versions. */
  children?: ReactNode
}

/** What stands above a form when another member has changed the same. */
export function Conflict({ isWhole, onChoose, children }: ConflictProps) {
  const { t } = useTranslation()
  return (
    <div className="say warn" role="alert">
      <div>
        <p>
          <b>{t('autosave.conflictTitle')}</b>
        </p>
        <p>{t('autosave.conflictAbout')}</p>
        {children}
        {isWhole && (
          <div className="acts">
            <Button variant="default" size="xs" onClick={() => onChoose('mine')}>
              {t('autosave.mine')}
            </Button>
            <Button variant="default" size="xs" onClick={() => onChoose('theirs')}>
              {t('autosave.theirs')}
            </Button>
          </div>
        )}
      </div>
    </div>
  )
}

type ClashProps = { clash: Clash; name: string; onChoose: Choose }

/** A field in both versions. */
function ClashOf({ clash: { mine, theirs }, name, onChoose }: ClashProps) {
  const { t } = useTranslation()
  return (
    <section className="clash" aria-label={name}>
      <h3>{name}</h3>
      <dl>
        <dt>{t('autosave.yours')}</dt>
        <dd dir="auto">{textOf(mine) ?? t('autosave.removed')}</dd>
        <dt>{t('autosave.others')}</dt>
        <dd dir="auto">{textOf(theirs) ?? t('autosave.removed')}</dd>
      </dl>
      <div className="acts">
        <Button variant="default" size="xs" onClick={() => onChoose('mine')}>
          {t('autosave.keepMine', { name })}
        </Button>
        <Button variant="default" size="xs" onClick={() => onChoose('theirs')}>
          {t('autosave.takeTheirs', { name })}
        </Button>
      </div>
    </section>
  )
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))
