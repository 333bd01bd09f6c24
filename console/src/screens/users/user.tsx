import { Button, Menu } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Copyable } from '../../parts/copy.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { initialsOf } from '../../parts/initials.ts'
import { Loading } from '../../parts/loading.tsx'
import { PageHead } from '../../parts/page.tsx'
import { clock } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { Attributes } from './attributes.tsx'
import { Devices } from './devices.tsx'
import { Erase } from './erase.tsx'
import { Explain } from './explain.tsx'
import { Inbox } from './inbox.tsx'
import { Journeys } from './journeys.tsx'
import { Lists } from './lists.tsx'
import { nameOf } from './name.ts'
import { Reach } from './reach.tsx'
import { Subscriptions } from './subscriptions.tsx'
import { TestSend } from './test-send.tsx'
import { Timeline } from './timeline.tsx'
import { useExport } from './use-export.ts'

const route = getRouteApi('/member/p/$project/users/$userId')

/** Everything about one user. */
/** The key resets the page for another user, so that what was opened for the former one closes. */
export function UserPage() {
  const { userId } = route.useParams()
  return <PageOf key={userId} userId={userId} />
}

function PageOf({ userId }: { userId: string }) {
  const { t, i18n } = useTranslation('users')
  const project = useProject()
  const { data: user, error, refetch } = useRead('/api/client/users/{userId}', { path: { userId } })
  const [isErasing, setErasing] = useState(false)
  const [isExplaining, setExplaining] = useState(false)
  const [isTesting, setTesting] = useState(false)
  const mayWrite = useMay('editor')
  const mayExport = useMay('admin')
  const save = useExport(userId)
  // What is being typed stays when reading again fails.
  if (error && !user) return <Failed error={error} onRetry={() => void refetch()} />
  if (!user) return <Loading />
  const name = nameOf(user)
  const zone = user.timezone ?? project.timezone
  return (
    <>
      <PageHead
        title={name}
        crumb={name}
        mark={
          <span className="portrait" aria-hidden>
            {initialsOf(name)}
          </span>
        }
        about={
          <span className="ids">
            <Copyable value={user.external_id} label={t('copy.id')} />
            {user.email && <Copyable value={user.email} label={t('copy.email')} />}
            {user.phone && <Copyable value={user.phone} label={t('copy.phone')} />}
            <span>{t('localTime', { time: clock(i18n.language, { at: new Date(), zone }), zone })}</span>
          </span>
        }
        actions={
          <>
            <Button variant="default" onClick={() => setExplaining(true)}>
              {t('explain.open')}
            </Button>
            {mayWrite && (
              <Button variant="default" onClick={() => setTesting(true)}>
                {t('test.open')}
              </Button>
            )}
            <CopyAs label={t('moreOf', { name })} request={{ method: 'GET', path: '/api/client/users/{userId}', params: { userId } }}>
              {mayExport && <Menu.Item onClick={() => save.mutate(undefined)}>{t('export')}</Menu.Item>}
              {mayWrite && (
                <Menu.Item color="ember" onClick={() => setErasing(true)}>
                  {t('erase.open')}
                </Menu.Item>
              )}
            </CopyAs>
          </>
        }
      />
      {save.error && <Failed error={save.error} />}
      <Reach user={user} />
      <div className="cols main-side">
        <Timeline userId={userId} zone={zone} />
        <div className="stack">
          <Journeys userId={userId} />
          <Lists userId={userId} />
          <Subscriptions userId={userId} />
          <Inbox userId={userId} />
          <Attributes user={user} />
          <Devices user={user} />
        </div>
      </div>
      <Explain userId={userId} name={name} isOpen={isExplaining} onClose={() => setExplaining(false)} />
      <TestSend user={user} name={name} isOpen={isTesting} onClose={() => setTesting(false)} />
      <Erase user={user} name={name} isOpen={isErasing} onClose={() => setErasing(false)} />
    </>
  )
}
