import { Button } from '@mantine/core'
import { IconPlayerPause } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { said } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'
import { PAUSES, type Pause, QUEUE, SITES } from './search.ts'

const isOfAll = ({ campaign_id, site }: Pause) => campaign_id === undefined && site === undefined

const usePauses = (): Pause[] => useRead(PAUSES, undefined).data?.results ?? []

/** How the email to a site is held: by itself, with all of the project, or not. A site that is held by itself stays so when all is resumed. */
export const useHeld = (): ((site: string) => 'site' | 'all' | undefined) => {
  const pauses = usePauses()
  return (site) => (pauses.some((pause) => pause.site === site) ? 'site' : pauses.some(isOfAll) ? 'all' : undefined)
}

/** Holds or releases all email, that of a campaign, or that to a site. */
export function usePauseWrite(way: 'pause' | 'resume', onDone?: () => void) {
  const { t } = useTranslation('mail')
  return useWrite(
    (api, body: Pause) => api.post(`/api/client/mail-queue/${way}`, { body }),
    [QUEUE, SITES],
    () => {
      onDone?.()
      said(t(`${way}.done`))
    },
  )
}

/** Everything that is held, each with a button that releases it. */
export function Pauses() {
  const { t } = useTranslation('mail')
  const pauses = usePauses()
  const mayResume = useMay('publisher')
  const resume = usePauseWrite('resume')
  const nameOf = ({ campaign_id, site }: Pause) =>
    site !== undefined
      ? t('pause.ofSite', { site })
      : campaign_id !== undefined
        ? t('pause.ofCampaign', { id: campaign_id })
        : t('pause.ofAll')
  if (pauses.length === 0) return null
  return (
    <div className="say wait gap-below">
      <IconPlayerPause size={16} stroke={1.5} aria-hidden />
      <div>
        <p>
          <b>{t('pause.heading')}</b> {t('pause.about')}
        </p>
        {resume.error && <Failed error={resume.error} />}
        <ul>
          {pauses.map((pause) => (
            <li key={nameOf(pause)} className="acts">
              {nameOf(pause)}
              {mayResume && (
                <Button
                  size="compact-xs"
                  variant="default"
                  loading={resume.isPending}
                  aria-label={`${t('resume.open')}: ${nameOf(pause)}`}
                  onClick={() => resume.mutate(pause)}
                >
                  {t('resume.open')}
                </Button>
              )}
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

/** Holds all email of the project. Asks for confirmation first, because all email waits then. */
export function PauseAll() {
  const { t } = useTranslation('mail')
  const [isOpen, setOpen] = useState(false)
  const pauses = usePauses()
  const mayPause = useMay('publisher')
  const pause = usePauseWrite('pause', () => setOpen(false))
  if (!mayPause || pauses.some(isOfAll)) return null
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        {t('pause.open')}
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t('pause.title')}
        action={t('pause.action')}
        isPending={pause.isPending}
        error={pause.error}
        onConfirm={() => pause.mutate({})}
      >
        <p>{t('pause.consequence')}</p>
      </Confirm>
    </>
  )
}
