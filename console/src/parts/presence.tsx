import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '../session/api.ts'
import { useProject } from '../session/project.tsx'
import { consoleKey } from './console-data.ts'

const SAID_EVERY_MS = 15_000

type Editors = { others: { member_id: number; name: string }[] }

/** Says which other members have the same object open in an editor, and tells the server that this one has. */
export function Presence({ kind: object, id: object_id }: { kind: 'campaign' | 'journey' | 'list'; id: number }) {
  const { t, i18n } = useTranslation()
  const { id: project_id } = useProject()
  const { data } = useQuery({
    queryKey: [...consoleKey('presence'), project_id, object, object_id],
    queryFn: () => call<Editors>('PUT', 'presence', { project_id, object, object_id }),
    refetchInterval: SAID_EVERY_MS,
    gcTime: 0,
    retry: false,
  })
  useEffect(
    () => () => void call('PUT', 'presence', { project_id, object, object_id, is_here: false }).catch(() => undefined),
    [project_id, object, object_id],
  )
  const names = data?.others.map(({ name }) => name) ?? []
  return (
    <output className={names.length > 0 ? 'presence sm' : 'vh'}>
      {names.length > 0 && t('presence', { count: names.length, names: new Intl.ListFormat(i18n.language).format(names) })}
    </output>
  )
}
