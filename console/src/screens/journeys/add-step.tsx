import { Button, Modal, TextInput } from '@mantine/core'
import { IconClipboard } from '@tabler/icons-react'
import { type KeyboardEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Editing } from './editing.ts'
import { useCopying } from './marking.tsx'
import { firstPath, type Place, targetOf } from './model/graph.ts'
import type { Kind } from './search.ts'
import { iconOf } from './steps/icons.ts'

/** Where a step is added: into a way, or at the beginning. */
export type Adding = { at: Place | undefined }

type Props = {
  editing: Editing
  adding: Adding | undefined
  /** The key of the new step; without one, nothing was added. The caller moves the focus: what opened the dialog may be gone. */
  onDone: (key?: string) => void
}

/** The kinds that begin something: no way leads to them. */
const ROOTS = ['entrance', 'exit']

/** Chooses the kind of a new step, by its name here or in other products. */
export function AddStep({ editing, adding, onDone }: Props) {
  const { t } = useTranslation('journeys')
  const [typed, setTyped] = useState('')
  const { pasteSteps } = useCopying(editing)
  const done = (key?: string) => {
    setTyped('')
    onDone(key)
  }
  const found = adding ? kindsFor(editing, adding).filter(([type, kind]) => isFound(type, kind, typed)) : []
  const choose = (type: string) => done(editing.add(type, adding?.at))
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !found[0]) return
    event.preventDefault()
    choose(found[0][0])
  }
  return (
    <Modal
      opened={adding !== undefined}
      onClose={() => done()}
      returnFocus={false}
      title={t('add.title')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <TextInput
        aria-label={t('add.search')}
        placeholder={t('add.search')}
        data-autofocus
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={press}
      />
      {adding && editing.hasCopies() && (
        <Button
          variant="default"
          size="xs"
          mt="xs"
          leftSection={<IconClipboard size={14} aria-hidden />}
          onClick={() => {
            pasteSteps(adding.at)
            done()
          }}
        >
          {t('marked.paste')}
        </Button>
      )}
      <ul className="kinds" aria-label={t('add.kinds')}>
        {found.map(([type, { label, description }]) => {
          const [IconOf, tone] = iconOf(type)
          return (
            <li key={type}>
              <button type="button" onClick={() => choose(type)}>
                <span className={`badge ${tone}`}>
                  <IconOf size={16} stroke={1.5} aria-hidden />
                </span>
                <span>
                  <b>{type === 'exit' && adding?.at === undefined ? t('add.criterion') : label}</b>
                  <small>{description}</small>
                </span>
              </button>
            </li>
          )
        })}
      </ul>
      {found.length === 0 && <p className="quiet sm">{t('noMatch')}</p>}
    </Modal>
  )
}

/** The kinds that can stand at a place. One without ways out would cut off what follows. */
function kindsFor({ meta, graph }: Editing, { at }: Adding): [string, Kind][] {
  const all = Object.entries(meta.steps)
  if (at === undefined) return all.filter(([type]) => ROOTS.includes(type))
  const hasNext = targetOf(graph, at) !== undefined
  return all.filter(([type, kind]) => type !== ROOTS[0] && (!hasNext || firstPath(kind.example, type, meta.steps) !== undefined))
}

const isFound = (type: string, { label, also }: Kind, typed: string): boolean =>
  [type, label, ...also].some((word) => word.toLowerCase().includes(typed.trim().toLowerCase()))
