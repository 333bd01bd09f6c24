import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Autosave } from './autosave.ts'
import { Failed } from './failed.tsx'
import type { Part } from './lines.ts'
import type { Clash } from './merge.ts'
import { SentRequest } from './sent-request.tsx'

/** “Saved”, “Saving”, “Offline – kept on this device”, announced politely, and the request of the last save. */
export function SaveState<T>({ autosave: { state, sent, isKept } }: { autosave: Autosave<T> }) {
  const { t } = useTranslation()
  return (
    <span className="savedline">
      <output className={`savestate sm ${state}`}>
        {t(state === 'offline' && !isKept ? 'autosave.offlineUnkept' : `autosave.${state}`)}
      </output>
      {sent && <SentRequest write={sent} />}
    </span>
  )
}

/**
 * The notice above an editor when saving failed, when another member has changed the same values, or when a draft was found. `wordsOf` gives the lines of a field
 * as its editor shows them.
 */
export function SaveProblem<T>({ autosave, wordsOf = asTheyAre }: { autosave: Autosave<T>; wordsOf?: WordsOf }) {
  const { t } = useTranslation()
  const { state, error, clashes, choose, answer, discard, isKept } = autosave
  if (state === 'failed' && error)
    return (
      <Failed error={error} kept={t(isKept ? 'autosave.kept' : 'autosave.unkept')}>
        <Button variant="default" size="xs" mt="xs" onClick={() => void discard()}>
          {t('autosave.discard')}
        </Button>
      </Failed>
    )
  if (state === 'found') return <Found onAnswer={answer} />
  if (state !== 'conflict') return null
  return <Clashes clashes={clashes} choose={choose} wordsOf={wordsOf} isKept={isKept} />
}

function UnkeptNote() {
  const { t } = useTranslation()
  return (
    <p>
      <b>{t('autosave.unkept')}</b>
    </p>
  )
}

type ClashesProps = Pick<Autosave<unknown>, 'clashes' | 'choose'> & { wordsOf?: WordsOf; isKept?: boolean }

/** The fields that two members have changed, each with both values to choose from. */
export const Clashes = ({ clashes, choose, wordsOf = asTheyAre, isKept = true }: ClashesProps) => (
  <Conflict isWhole={clashes.length > 1} onChoose={(side) => choose(clashes, side)}>
    {!isKept && <UnkeptNote />}
    {clashes.map((clash) => (
      <ClashOf key={clash.path.join('.')} clash={clash} wordsOf={wordsOf} onChoose={(side) => choose([clash], side)} />
    ))}
  </Conflict>
)

function Found({ onAnswer }: { onAnswer: (isWanted: boolean) => void }) {
  const { t } = useTranslation()
  return (
    <div className="say warn" role="alert">
      <div>
        <p>
          <b>{t('autosave.foundTitle')}</b>
        </p>
        <p>{t('autosave.foundAbout')}</p>
        <div className="acts">
          <Button variant="default" size="xs" onClick={() => onAnswer(true)}>
            {t('autosave.foundSave')}
          </Button>
          <Button variant="default" size="xs" onClick={() => onAnswer(false)}>
            {t('autosave.discard')}
          </Button>
        </div>
      </div>
    </div>
  )
}

type Choose = (side: 'mine' | 'theirs') => void

type ConflictProps = {
  /** Whether one of the two versions can be taken as a whole. */
  isWhole: boolean
  onChoose: Choose
  /** What differs, in both versions. */
  children?: ReactNode
}

/** The notice above a form when another member has changed the same values. */
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

type WordsOf = (path: string[], part: Part) => Part

const asTheyAre: WordsOf = (_, part) => part

type ClashProps = { clash: Clash; wordsOf: WordsOf; onChoose: Choose }

/** A field in both versions, or those of its lines that differ. */
function ClashOf({ clash: { path, mine, theirs, parts }, wordsOf, onChoose }: ClashProps) {
  const { t } = useTranslation()
  const name = path.join(' › ')
  const shown = parts?.map((part) => wordsOf(path, part)) ?? [{ mine, theirs }]
  return (
    <section className="clash" aria-label={name}>
      <h3>{name}</h3>
      {shown.map((part) => (
        <Versions key={`${part.mine}\n${part.theirs}`} {...part} />
      ))}
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

/** A value in both versions. */
export function Versions({ mine, theirs }: { mine: unknown; theirs: unknown }) {
  const { t } = useTranslation()
  const removed = t('autosave.removed')
  return (
    <dl>
      <dt>{t('autosave.yours')}</dt>
      <dd dir="auto">{textOf(mine) || removed}</dd>
      <dt>{t('autosave.others')}</dt>
      <dd dir="auto">{textOf(theirs) || removed}</dd>
    </dl>
  )
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))
