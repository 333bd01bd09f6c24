import { Outlet, useParams, useRouter } from '@tanstack/react-router'
import { type ReactNode, Suspense, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { lazyPart } from '../parts/lazy-part.ts'
import { Loading } from '../parts/loading.tsx'
import { notice } from '../parts/notice.ts'
import type { SessionProject } from '../session/api.ts'
import { useSessionEnded } from '../session/ended.ts'
import { firstProject, projectOf, rememberProject, useSession } from '../session/index.ts'
import { ProjectProvider } from '../session/project.tsx'
import { BottomTabs } from './bottom-tabs.tsx'
import { Environment } from './environment.tsx'
import { PaletteKey } from './palette-key.tsx'
import { Rail } from './rail.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { TopBar } from './top-bar.tsx'

const SessionEnded = lazyPart(() => import('./session-ended.tsx'), 'SessionEnded')
const SessionWarning = lazyPart(() => import('./session-warning.tsx'), 'SessionWarning')

/** The frame around the screens of a project. */
export function ProjectFrame() {
  const session = useSession()
  const { project: id } = useParams({ from: '/member/p/$project' })
  const project = projectOf(session, Number(id))
  useEffect(() => rememberProject(Number(id)), [id])
  if (!project) return <Gone id={id} />
  return <Framed project={project} />
}

/** In the place of a project that was deleted, or taken away from the member, while its page was open. */
function Gone({ id }: { id: string }) {
  const { t } = useTranslation()
  const router = useRouter()
  useEffect(() => {
    // A member who has deleted it is leaving already.
    if (!`${router.latestLocation.pathname}/`.startsWith(`/p/${id}/`)) return
    notice(t('noProject.gone'))
    void router.navigate({ to: '/', ignoreBlocker: true })
  }, [router, id, t])
  return null
}

/** The frame around the screens of the member, which lead back to the project that was open last. */
export function AccountFrame() {
  const session = useSession()
  const project = firstProject(session)
  if (!project) return <Outlet />
  return <Framed project={project} />
}

/** A new key for each project: nothing of one is shown in another. */
const Framed = ({ project }: { project: SessionProject }) => (
  <ProjectProvider key={project.id} project={project}>
    <Frame project={project}>
      <Outlet />
    </Frame>
  </ProjectProvider>
)

function Frame({ project, children }: { project: SessionProject; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <>
      <a className="skip" href="#main">
        {t('skip')}
      </a>
      <Environment project={project} />
      <div className="shell">
        <Rail project={project} />
        <div className="stage">
          <TopBar project={project} />
          <main id="main" tabIndex={-1}>
            <Suspense fallback={<Loading />}>{children}</Suspense>
          </main>
        </div>
      </div>
      <BottomTabs project={project} />
      <PaletteKey project={project} />
      <Shortcuts project={project} />
      <SessionEnd />
    </>
  )
}

const LATER_MS = 5000

/**
 * What speaks when the session ends is no part of the first load. It is loaded soon after, and not only when it is needed: then the server
 * may be away, or have other files.
 */
function SessionEnd() {
  const [isLater, setLater] = useState(false)
  const isEnded = useSessionEnded()
  useEffect(() => {
    const timer = setTimeout(() => setLater(true), LATER_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!isLater && !isEnded) return null
  return (
    <Suspense>
      <SessionEnded />
      <SessionWarning />
    </Suspense>
  )
}
