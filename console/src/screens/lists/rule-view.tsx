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
import { Conflict, Versions } from '../../parts/save-state.tsx'
import { undoable } from '../../parts/toast.ts'
import { useUnsavedForm } from '../../parts/unsaved-form.ts'
import { Builder } from './builder.tsx'
import { TestUser } from './test-user.tsx'
import { UsedBy } from './used-by.tsx'

const LIST = '/api/client/lists/{listId}'

type List = components['schemas']['List']

/** A changed rule, with the version of the list that it began with. */
type Changed = { rule: Draft; version: string | null }

/** The rule of the list, which is saved by a button: the list is built again. No member overwrites what another has saved meanwhile. */
export function RuleView({ list, mayChange }: { list: List; mayChange: boolean }) {
  const { t } = useTranslation('lists')
  const stored = (list.rule ?? {}) as Draft
  const [changed, setChanged] = useState<Changed | null>(null)
  const rule = changed?.rule ?? stored
  const isChanged = JSON.stringify(rule) !== JSON.stringify(stored)
  useUnsavedForm(mayChange && isChanged)
  const [conflict, setConflict] = useState<List | null>(null)
  const save = useSave(list, (outcome, sent) => {
    setConflict(outcome.is === 'conflict' ? outcome.theirs : null)
    // What was changed during the save is the next change.
    if (outcome.is === 'saved')
      setChanged((changed) => (changed && !isSame(changed.rule, sent) ? { rule: changed.rule, version: versionOf(outcome.saved) } : null))
  })
  const discard = () => {
    setChanged(null)
    setConflict(null)
    save.reset()
  }
  return (
    <>
      {mayChange && <Presence kind="list" id={list.id} />}
      {save.error && <Failed error={save.error} />}
      {conflict && (
        <Conflict
          isWhole
          onChoose={(side) =>
            side === 'mine' ? save.mutate({ next: rule, before: (conflict.rule ?? {}) as Draft, version: versionOf(conflict) }) : discard()
          }
        >
          <Versions mine={rule} theirs={conflict.rule} />
        </Conflict>
      )}
      <Builder rule={rule} onChange={(next) => setChanged({ rule: next, version: changed ? changed.version : versionOf(list) })}>
        {mayChange && (
          <div className="saving">
            <p className="quiet sm">{t(isChanged ? 'save.about' : 'save.none')}</p>
            <div className="acts">
              <Button
                loading={save.isPending}
                disabled={!isChanged || !isComplete(rule) || conflict !== null}
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

/** What was saved, or the list as another member has saved it instead. */
type Outcome = { is: 'saved'; saved: List } | { is: 'conflict'; theirs: List }

/** Saves a rule in place of this version. Undo works until another member changes the rule. `onDone` gets the rule that was sent too. */
function useSave(list: List, onDone: (outcome: Outcome, sent: Draft) => void) {
  const { t } = useTranslation('lists')
  const save = useWrite(
    async (api, { next, before, version }: Save): Promise<Outcome> => {
      const path = { listId: list.id }
      const headers = version !== null && { headers: { 'if-match': version } }
      try {
        return { is: 'saved', saved: await api.patch(LIST, { path, body: { rule: next as unknown as Rule }, ...headers }) }
      } catch (thrown) {
        // An Undo has no question to answer.
        if (before === undefined || !(thrown instanceof CarillonError && thrown.status === 412)) throw thrown
        return { is: 'conflict', theirs: await api.get(LIST, { path }) }
      }
    },
    ['/api/client/lists'],
    (outcome, { next, before }) => {
      onDone(outcome, next)
      if (outcome.is === 'saved' && before)
        undoable(t('save.done'), () => save.mutateAsync({ next: before, version: versionOf(outcome.saved) }))
    },
  )
  return save
}
