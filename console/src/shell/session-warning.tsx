import { Button } from '@mantine/core'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useConsoleWrite } from '../parts/console-data.ts'
import { said } from '../parts/toast.ts'
import type { SessionEnd } from '../session/api.ts'
import { keepSession, useNearEnd } from '../session/end.ts'
import './session-warning.css'

/**
 * Warns that the session will end, some minutes before it does (WCAG 2.2.1). The live region is always on the page, because screen readers
 * only announce changes in a region that they already know.
 */
export function SessionWarning() {
  const { t } = useTranslation()
  const end = useNearEnd()
  const [closed, setClosed] = useState<string>()
  const { region, noteFocus, giveFocusBack } = useFocusBefore()
  const close = () => {
    giveFocusBack()
    setClosed(end?.expires_at)
  }
  const stay = useConsoleWrite(keepSession, () => {
    giveFocusBack()
    said(t('session.stays'))
  })
  return (
    <div role="status" ref={region} onFocus={({ relatedTarget }) => noteFocus(relatedTarget)}>
      {end !== null && end.expires_at !== closed && (
        <div className="session-warning">
          <Words end={end} />
          {stay.error && <p className="sm">{stay.error.message}</p>}
          {end.expires_at === end.latest_expires_at ? (
            <Button size="sm" variant="default" onClick={close}>
              {t('close')}
            </Button>
          ) : (
            <Button size="sm" loading={stay.isPending} onClick={() => stay.mutate(undefined)}>
              {t('session.stay')}
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

/** The time with its zone, because screens show times in the zone of the project too: “9:14 am AEDT”. */
const zonedClock = (language: string, at: string): string =>
  new Intl.DateTimeFormat(language, { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' }).format(new Date(at))

/** Use of the session moves its end, unless that has reached the limit. */
function Words({ end: { expires_at, latest_expires_at } }: { end: SessionEnd }) {
  const { t, i18n } = useTranslation()
  const time = zonedClock(i18n.language, expires_at)
  return (
    <div>
      <p>
        <b>{expires_at === latest_expires_at ? t('session.endsLatest', { time }) : t('session.endsIdle', { time })}</b>
      </p>
      <p className="quiet sm">{t('session.kept')}</p>
    </div>
  )
}

/** Gives the focus back to what had it before the region, unless it has gone elsewhere meanwhile. */
function useFocusBefore() {
  const region = useRef<HTMLDivElement>(null)
  const before = useRef<EventTarget | null>(null)
  const noteFocus = (from: EventTarget | null) => {
    if (!(from instanceof Node && region.current?.contains(from))) before.current = from
  }
  const giveFocusBack = () => {
    const isHere = document.activeElement === document.body || region.current?.contains(document.activeElement)
    if (isHere && before.current instanceof HTMLElement) before.current.focus()
  }
  return { region, noteFocus, giveFocusBack }
}
