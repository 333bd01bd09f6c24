import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '../session/api.ts'
import { useProject } from '../session/project.tsx'
import { consoleKey } from './console-data.ts'

const SAID_EVERY_MS = 15_000

type Editors = { is_here: boolean; others: { member_id: number; name: string }[] }
type Kind = 'campaign' | 'journey' | 'list'

type Options = {
  /** False for members who only read. */
  isWanted?: boolean
  /** While another member has it open, this one does not edit it before saying so. */
  isLocking?: boolean
}

/** Who else has an object open in an editor, and whether this member may edit it. */
export type EditLock = {
  others: string[]
  /** Nothing may be changed or saved: another member came first, or it is not known yet. */
  isLocked: boolean
  /** Another member came first. */
  isTaken: boolean
  /** Counts how often the lock was opened. What was read before is then old. */
  opened: number
  editAnyway: () => void
}

/** Tells the server that this member has an object open, and learns which others have. */
export function useEditLock(object: Kind, object_id: number, { isWanted = true, isLocking = false }: Options = {}): EditLock {
  const { id: project_id } = useProject()
  const client = useQueryClient()
  // Once a member edits, another one who comes takes nothing away.
  const [isEditing, setEditing] = useState(!isLocking)
  const [opened, setOpened] = useState(0)
  /** What is said next time, which may be before the page is drawn again. */
  const insists = useRef(!isLocking)
  const wasTaken = useRef(false)
  const { data, isError, refetch } = useQuery({
    queryKey: [...consoleKey('presence'), project_id, object, object_id],
    queryFn: () => call<Editors>('PUT', 'presence', { project_id, object, object_id, only_if_alone: !insists.current }),
    refetchInterval: SAID_EVERY_MS,
    gcTime: 0,
    retry: false,
    enabled: isWanted,
  })
  const isHere = data?.is_here ?? isError
  const open = async () => {
    insists.current = true
    if (wasTaken.current) {
      // What the other one has saved is read before anything is changed.
      await client.refetchQueries({ queryKey: ['api', project_id], type: 'active' })
      setOpened((count) => count + 1)
    }
    wasTaken.current = false
    setEditing(true)
  }
  const isTaken = !isEditing && data?.is_here === false
  if (isTaken) wasTaken.current = true
  // biome-ignore lint/correctness/useExhaustiveDependencies: it opens when the server says so, and only then.
  useEffect(() => {
    if (isHere && !isEditing) void open()
  }, [isHere, isEditing])
  useEffect(() => {
    if (!isWanted) return
    return () => {
      insists.current = !isLocking
      setEditing(!isLocking)
      void call('PUT', 'presence', { project_id, object, object_id, is_here: false }).catch(() => undefined)
    }
  }, [isWanted, isLocking, project_id, object, object_id])
  return {
    others: data?.others.map(({ name }) => name) ?? [],
    isLocked: isWanted && !isEditing,
    isTaken: isWanted && isTaken,
    opened,
    editAnyway: () => void open().then(() => refetch()),
  }
}

const useNames = (others: string[]) => new Intl.ListFormat(useTranslation().i18n.language).format(others)

/** Says which other members have the same object open. */
export function Others({ lock: { others, isTaken } }: { lock: EditLock }) {
  const { t } = useTranslation()
  const names = useNames(others)
  const isShown = others.length > 0 && !isTaken
  return <output className={isShown ? 'presence sm' : 'vh'}>{isShown && t('presence', { count: others.length, names })}</output>
}

/** The notice above an editor that another member has open. */
export function Taken({ lock: { others, isTaken, editAnyway } }: { lock: EditLock }) {
  const { t } = useTranslation()
  const names = useNames(others)
  if (!isTaken) return null
  return (
    <div className="say taken" role="status">
      <div>
        <p>
          <b>{t('lock.taken', { count: others.length, names })}</b>
        </p>
        <p>{t('lock.about')}</p>
        <div className="acts">
          <Button variant="default" size="xs" onClick={editAnyway}>
            {t('lock.editAnyway')}
          </Button>
        </div>
      </div>
    </div>
  )
}

/** Shows which other members have an object open, without locking it. */
export const Presence = ({ kind, id }: { kind: Kind; id: number }) => <Others lock={useEditLock(kind, id)} />
