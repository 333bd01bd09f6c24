import type { components } from '@carillon/sdk'
import {
  type Icon,
  IconArrowBackUp,
  IconArrowRight,
  IconBan,
  IconCheck,
  IconCircle,
  IconClick,
  IconClock,
  IconEye,
  IconFlag,
  IconPlayerStop,
  IconQuestionMark,
  IconX,
} from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { instant } from '../../parts/time.tsx'
import { useProject } from '../../session/project.tsx'

type Message = components['schemas']['MessageWhole']
type What = Message['timeline'][number]['what']

const MARKS: Record<What, [string, Icon]> = {
  queued: ['none', IconCircle],
  claimed: ['none', IconCircle],
  sent: ['info', IconArrowRight],
  delivered: ['', IconCheck],
  opened: ['', IconEye],
  clicked: ['', IconClick],
  deferred: ['wait', IconClock],
  failed: ['bad', IconX],
  bounced: ['bad', IconArrowBackUp],
  complained: ['bad', IconFlag],
  skipped: ['still', IconBan],
  aborted: ['still', IconPlayerStop],
  unknown: ['act', IconQuestionMark],
}

/** The timeline of a message, oldest first, in words with the codes of the API. */
export function Timeline({ message: { timeline, deliveries, due_at, state } }: { message: Message }) {
  const { t, i18n } = useTranslation('messages')
  const { timezone: zone } = useProject()
  const at = (time: string) => instant(i18n.language, { at: time, zone })
  return (
    <>
      <ol className="gates">
        {timeline.map(({ at: time, what, reason, detail }, index) => {
          const [tone, IconOf] = MARKS[what]
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: what happened has no id, and only grows at its end.
            <li key={index}>
              <span className={`mk ${tone}`}>
                <IconOf aria-hidden />
              </span>
              {t(`what.${what}`)} {reason && <code>{reason}</code>}
              {detail && <small dir="auto">{detail}</small>}
              <small>{at(time)}</small>
            </li>
          )
        })}
        {(state === 'queued' || state === 'deferred') && (
          <li>
            <span className="mk wait">
              <IconClock aria-hidden />
            </span>
            {t('next')}
            <small>{at(due_at)}</small>
          </li>
        )}
      </ol>
      {deliveries?.map(({ recipient, site, state, attempts }) => (
        <section key={recipient} className="pad deliveries">
          <h3>
            {recipient} <Chip state={state} />
          </h3>
          {site && <p className="quiet xs">{site}</p>}
          <ol>
            {attempts.map(({ attempt, at: time, outcome, host, code, response, detail, tls }) => (
              <li key={attempt}>
                <b>{t('attempt', { number: attempt, outcome })}</b> <span className="quiet xs">{at(time)}</span>
                <p className="facts">
                  {host && <span>{host}</span>}
                  {tls && <span>{tls}</span>}
                  {(response ?? detail ?? code) !== undefined && <b>{response ?? detail ?? code}</b>}
                </p>
              </li>
            ))}
          </ol>
        </section>
      ))}
    </>
  )
}
