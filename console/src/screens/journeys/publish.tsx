import { CarillonError } from '@carillon/sdk'
import { Button, Modal, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ifVersion } from '../../parts/autosave.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { keyOf, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Num } from '../../parts/number.tsx'
import { SaveProblem } from '../../parts/save-state.tsx'
import { Sentence } from '../../parts/sentence.tsx'
import { said } from '../../parts/toast.ts'
import { useApi, useMay, useProject } from '../../session/project.tsx'
import type { Editing } from './editing.ts'
import { isRoot, type Step } from './model/graph.ts'
import { JOURNEYS, type Journey, PREVIEW, type Publication } from './search.ts'

type Entry = 'stay' | 'exit' | 'move' | { move: string }
type Plan = Record<string, Entry>

const WAYS = ['stay', 'move', 'exit'] as const

/** Publishes the draft once it has been saved. Shows first what will happen to the users who are inside. */
export function Publish({ journey, editing }: { journey: Journey; editing: Editing }) {
  const { t } = useTranslation('journeys')
  const mayPublish = useMay('publisher')
  const [isOpen, setOpen] = useState(false)
  const [isChanged, setChanged] = useState(false)
  const { autosave, graph, hasDraft, mayWrite } = editing
  if (editing.isBornLive) return editing.mayWrite ? <GoLive journey={journey} editing={editing} /> : null
  if (!mayPublish || !hasDraft || Object.keys(graph).length === 0) return null
  const open = () => {
    setChanged(false)
    if (autosave.state !== 'saved') void autosave.saveNow()
    setOpen(true)
  }
  return (
    <>
      <Button disabled={!mayWrite || autosave.state === 'conflict' || autosave.state === 'failed'} onClick={open}>
        {t('publish.open')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        size="lg"
        title={t('publish.title', { name: journey.name })}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <div role="alert">{isChanged && <p className="say wait">{t('publish.changed')}</p>}</div>
        {isOpen && !isChanged && autosave.state !== 'saved' && <Unsaved autosave={autosave} />}
        {isOpen && !isChanged && autosave.state === 'saved' && (
          <PublishForm journeyId={journey.id} editing={editing} onDone={() => setOpen(false)} onChanged={() => setChanged(true)} />
        )}
      </Modal>
    </>
  )
}

/** Saves the steps of a live journey that was never published: with that, users enter. */
function GoLive({ journey, editing: { autosave, graph } }: { journey: Journey; editing: Editing }) {
  const { t } = useTranslation('journeys')
  const [isOpen, setOpen] = useState(false)
  const { state, saveNow } = autosave
  const goLive = async () => {
    if (!(await saveNow())) return
    setOpen(false)
    said(t('goLive.done'))
  }
  return (
    <>
      <Button disabled={Object.keys(graph).length === 0 || state === 'saved' || state === 'conflict'} onClick={() => setOpen(true)}>
        {t('goLive.open')}
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t('goLive.title', { name: journey.name })}
        action={t('goLive.action')}
        isDanger={false}
        isPending={state === 'saving'}
        error={state === 'failed' || state === 'offline' ? autosave.error : null}
        onConfirm={() => void goLive()}
      >
        <p>{t('goLive.about')}</p>
      </Confirm>
    </>
  )
}

/** In the place of the form until the draft is saved: what is saved is published. */
function Unsaved({ autosave }: Pick<Editing, 'autosave'>) {
  const { t } = useTranslation()
  const { state, isKept } = autosave
  if (state === 'changed' || state === 'saving') return <Loading />
  return state === 'offline' ? (
    <p className="say warn">{t(isKept ? 'autosave.offline' : 'autosave.offlineUnkept')}</p>
  ) : (
    <SaveProblem autosave={autosave} />
  )
}

type FormProps = {
  journeyId: number
  editing: Editing
  onDone: () => void
  /** Another member has changed the steps, which are not published. */
  onChanged: () => void
}

function PublishForm({ journeyId, editing, onDone, onChanged }: FormProps) {
  const { t } = useTranslation('journeys')
  const api = useApi()
  const project = useProject()
  const [plan, setPlan] = useState<Plan>({})
  const [note, setNote] = useState('')
  const body = { plan: { steps: plan }, ...(note.trim() !== '' && { note: note.trim() }) }
  const { data, error } = useQuery<Publication, CarillonError>({
    queryKey: keyOf(project.id, PREVIEW, { journeyId, plan }),
    queryFn: ({ signal }) => api.post(PREVIEW, { path: { journeyId }, body: { plan: { steps: plan } }, signal }),
    staleTime: 0,
    placeholderData: (previous) => previous,
  })
  const publish = usePublish(journeyId, editing.autosave, (version) => {
    if (version === null) return onChanged()
    said(t('publish.done', { version }))
    onDone()
  })
  // The note that is being typed stays when reading again fails.
  if (error && !data) return <Failed error={error} />
  if (!data) return <Loading />
  const { version, moving, faults, warnings } = data
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        publish.mutate(body)
      }}
    >
      {publish.error && <Failed error={publish.error} />}
      <p>{t('publish.about', { version })}</p>
      {faults.map(({ message }) => (
        <p key={message} className="say bad sm">
          <Sentence text={message} />
        </p>
      ))}
      {warnings.map(({ message }) => (
        <p key={message} className="say warn sm">
          <Sentence text={message} />
        </p>
      ))}
      <Inside data={data} plan={plan} editing={editing} onPlan={setPlan} />
      <TextInput
        label={t('publish.note')}
        data-autofocus
        autoFocus
        maxLength={500}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <div className="acts">
        <Button type="submit" loading={publish.isPending} disabled={faults.length > 0}>
          {moving > 0 ? t('publish.actionMoving', { version, count: moving }) : t('publish.action', { version })}
        </Button>
      </div>
    </form>
  )
}

/** Publishes the steps as they are shown. Those that another member has changed since are read instead, and no version is returned. */
function usePublish(journeyId: number, autosave: Editing['autosave'], onDone: (version: number | null) => void) {
  return useWrite(
    async (api, body: { plan: { steps: Plan }; note?: string }) => {
      const read = await autosave.seenVersion()
      if (read === null) return null
      try {
        const headers = ifVersion(read)
        const { version } = await api.post('/api/client/journeys/{journeyId}/publish', { path: { journeyId }, body, headers })
        return version
      } catch (thrown) {
        if (!(thrown instanceof CarillonError && thrown.status === 412)) throw thrown
        await autosave.readAgain()
        return null
      }
    },
    [JOURNEYS],
    onDone,
  )
}

type InsideProps = { data: Publication; plan: Plan; editing: Editing; onPlan: (plan: Plan) => void }

/** The users on earlier versions: at which steps, how many, and what becomes of them. */
function Inside({ data: { steps }, plan, editing: { graph, words, numbers }, onPlan }: InsideProps) {
  const { t } = useTranslation('journeys')
  if (steps.length === 0) return <p className="quiet sm">{t('publish.none')}</p>
  const targets = Object.keys(graph).filter((key) => !isRoot(graph[key] as Step))
  const choices = [
    ...WAYS.map((value) => ({ value: value as string, label: t(`publish.way.${value}`) })),
    ...targets.map((key) => ({
      value: `>${key}`,
      label: t('publish.moveTo', { number: numbers.get(key) ?? '–', title: words(graph[key] as Step).title }),
    })),
  ]
  const choiceOf = (entry: Entry | undefined, shown: unknown) => {
    const chosen = (entry ?? shown) as Entry
    return typeof chosen === 'string' ? chosen : `>${chosen.move}`
  }
  return (
    <table className="rows" aria-label={t('publish.inside')}>
      <thead>
        <tr>
          <th scope="col">{t('publish.step')}</th>
          <th scope="col" className="num">
            {t('publish.users')}
          </th>
          <th scope="col">{t('publish.becomes')}</th>
        </tr>
      </thead>
      <tbody>
        {steps.map(({ external_id: key, version, users, plan: shown, due_now }) => (
          <tr key={`${version} ${key}`}>
            <th scope="row">
              <code>{key}</code>
              <span className="r">{t('version', { version })}</span>
            </th>
            <td className="num">
              <Num value={users} />
            </td>
            <td>
              <Select
                size="xs"
                aria-label={t('publish.becomesOf', { key })}
                allowDeselect={false}
                data={choices}
                value={choiceOf(plan[key], shown)}
                onChange={(next) =>
                  next !== null && onPlan({ ...plan, [key]: next.startsWith('>') ? { move: next.slice(1) } : (next as Entry) })
                }
              />
              {due_now > 0 && <span className="r">{t('publish.dueNow', { count: due_now })}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
