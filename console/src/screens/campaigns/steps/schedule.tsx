import { Radio, Switch } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { notice } from '../../../parts/notice.ts'
import { instant } from '../../../parts/time.tsx'
import { TypedDay } from '../../../parts/typed-day.tsx'
import { useServerClock } from '../../../session/end.ts'
import { useProject } from '../../../session/project.tsx'
import { atTime, passedIn } from './launch.ts'
import type { StepProps } from './step.ts'
import { Waves } from './waves.tsx'

const HOUR_MS = 3_600_000
const own = Intl.DateTimeFormat().resolvedOptions().timeZone
const two = (value: number) => String(value).padStart(2, '0')

/** An instant as a field for local times has it. */
const localOf = (at: Date) =>
  `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`

/** When a blast is sent. */
export function ScheduleStep({ autosave: { draft, change } }: StepProps) {
  const { t, i18n } = useTranslation('campaigns')
  const project = useProject()
  const now = useServerClock()
  const { send_at = null, send_in_user_timezone: isLocal = false } = draft
  const field = send_at === null ? '' : isLocal ? send_at.slice(0, 16) : localOf(new Date(send_at))
  const later = () => localOf(new Date(Math.ceil(Date.now() / HOUR_MS + 1) * HOUR_MS))
  const at = (text: string, inUserZone = isLocal) => {
    const send_at = inUserZone ? `${text}:00` : new Date(text).toISOString()
    change(atTime(draft, { send_in_user_timezone: inUserZone, send_at }))
    if (inUserZone && draft.winner) notice(t('schedule.withoutWinner'))
  }
  const zones = [...new Set([own, project.timezone, 'UTC'])]
  return (
    <div className="form pad narrow">
      <Radio.Group
        label={t('schedule.when')}
        value={send_at === null ? 'now' : 'later'}
        onChange={(when) => (when === 'now' ? change({ ...draft, send_in_user_timezone: false, send_at: null }) : at(later()))}
      >
        <Radio mt="xs" value="now" label={t('schedule.now')} description={t('schedule.nowAbout')} />
        <Radio mt="xs" value="later" label={t('schedule.later')} description={t('schedule.laterAbout')} />
      </Radio.Group>
      {send_at !== null && (
        <>
          <TypedDay
            type="datetime-local"
            label={t('schedule.at')}
            description={isLocal ? t('schedule.ofUsers') : t('schedule.ofZone', { zone: own })}
            required
            value={field}
            onChange={(text) => at(text)}
          />
          <Switch
            label={t('schedule.local')}
            description={t('schedule.localAbout', { zone: project.timezone })}
            checked={isLocal}
            onChange={(event) => at(field, event.currentTarget.checked)}
          />
          {isLocal && <Waves local={send_at} />}
          {!isLocal && (
            <dl className="kv">
              {zones.map((zone) => (
                <div key={zone} className="contents">
                  <dt>{zone}</dt>
                  <dd>{instant(i18n.language, { at: send_at, zone })}</dd>
                </div>
              ))}
            </dl>
          )}
          {passedIn(draft, now()) === 'all' && <p className="say warn">{t('schedule.past')}</p>}
        </>
      )}
    </div>
  )
}
