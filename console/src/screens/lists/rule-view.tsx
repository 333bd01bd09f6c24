import { CarillonError, type components } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { versionOf } from '../../parts/autosave.ts'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { isSame } from '../../parts/merge.ts'
import { Presence } from '../../parts/presence.tsx'
import { type Draft, isComplete, type Rule } from '../../parts/rules/rule.ts'
import { Conflict } from '../../parts/save-state.tsx'
import { undoable } from '../../parts/toast.ts'
import { Builder } from './builder.tsx'
import { TestUser } from './test-user.tsx'
import { UsedBy } from './used-by.tsx'

type List = components['schemas']['List']

/** A changed rule, with the version of the list that it began with. */
type Changed = { rule: Draft; version: string | null }

/** Any version: the member has seen that there is another one. */
const ANY = '*'

/** The rule of the list, which is saved by a button: the list is built again. No member overwrites what another has saved meanwhile. */
export function RuleView({ list, mayChange }: { list: List; mayChange: boolean }) {
  const { t } = useTranslation('lists')
  const stored = (list.rule ?? {}) as Draft
  const [changed, setChanged] = useState<Changed | null>(null)
  const rule = changed?.rule ?? stored
  const isChanged = JSON.stringify(rule) !== JSON.stringify(stored)
  const save = useSave(list, (sent, version) =>
    // What was changed during the save is the next change.
    setChanged((changed) => (changed && !isSame(changed.rule, sent) ? { rule: changed.rule, version } : null)),
  )
  const discard = () => {
    setChanged(null)
    save.reset()
  }
  const isConflict = save.error instanceof CarillonError && save.error.status === 412
  return (
    <>
      {mayChange && <Presence kind="list" id={list.id} />}
      {save.error && !isConflict && <Failed error={save.error} />}
      {isConflict && (
        <Conflict isWhole onChoose={(side) => (side === 'mine' ? save.mutate({ next: rule, before: stored, version: ANY }) : discard())} />
      )}
      <Builder rule={rule} onChange={(next) => setChanged({ rule: next, version: changed ? changed.version : versionOf(list) })}>
        {mayChange && (
          <div className="saving">
            <p className="quiet sm">{t(isChanged ? 'save.about' : 'save.none')}</p>
            <div className="acts">
              <Button
                loading={save.isPending}
                disabled={!isChanged || !isComplete(rule)}
                onClick={() => save.mutate({ next: rule, before: stored, version: changed?.version ?? null })}
              >
                {t('save.submit')}
              </Button>
              <Button variant="default" disabled={!isChanged} onClick={discard}>
                {t('save.discard')}
              </Button>
            </div>
          </div>
        )}
        <TestUser list={list} isChanged={isChanged} />
        <UsedBy listId={list.id} />
      </Builder>
    </>
  )
}

type Save = { next: Draft; before?: Draft; version: string | null }

/**
 * Saves a rule in place of this version. Undo works until another member changes the rule. `onSaved` gets the rule that was sent and the new
 * version.
 */
function useSave(list: List, onSaved: (sent: Draft, version: string | null) => void) {
  const { t } = useTranslation('lists')
  const save = useWrite(
    (api, { next, version }: Save) =>
      api.patch('/api/client/lists/{listId}', {
        path: { listId: list.id },
        body: { rule: next as unknown as Rule },
        ...(version !== null && { headers: { 'if-match': version } }),
      }),
    ['/api/client/lists'],
    (saved, { next, before }) => {
      onSaved(next, versionOf(saved))
      if (before) undoable(t('save.done'), () => save.mutateAsync({ next: before, version: versionOf(saved) }))
    },
  )
  return save
}
