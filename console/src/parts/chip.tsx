import {
  type Icon,
  IconAlertTriangle,
  IconArrowBackUp,
  IconArrowRight,
  IconBan,
  IconCalendar,
  IconCheck,
  IconCircle,
  IconCircleHalf,
  IconClock,
  IconFlag,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconQuestionMark,
  IconX,
} from '@tabler/icons-react'

type Tone = 'still' | 'line' | 'info' | 'good' | 'wait' | 'bad' | 'warn' | 'act'

/** How each state looks: word, icon, then colour. */
const STATES: Record<string, [Tone, Icon]> = {
  queued: ['line', IconCircle],
  claimed: ['still', IconCircleHalf],
  skipped: ['still', IconBan],
  unsubscribed: ['still', IconBan],
  aborted: ['still', IconPlayerStop],
  cancelled: ['still', IconPlayerStop],
  archived: ['still', IconPlayerStop],
  draft: ['still', IconPencil],
  off: ['still', IconPlayerPause],
  inactive: ['still', IconPlayerPause],
  paused: ['still', IconPlayerPause],
  sent: ['info', IconArrowRight],
  loading: ['info', IconCircleHalf],
  delivering: ['info', IconCircleHalf],
  building: ['info', IconCircleHalf],
  delivered: ['good', IconCheck],
  finished: ['good', IconCheck],
  completed: ['good', IconCheck],
  active: ['good', IconCheck],
  succeeded: ['good', IconCheck],
  verified: ['good', IconCheck],
  ok: ['good', IconCheck],
  open: ['good', IconCheck],
  subscribed: ['good', IconCheck],
  confirmed: ['good', IconCheck],
  ready: ['good', IconCheck],
  live: ['good', IconPlayerPlay],
  deferred: ['wait', IconClock],
  pending: ['wait', IconClock],
  unchecked: ['wait', IconClock],
  waiting: ['wait', IconClock],
  slowed: ['wait', IconClock],
  probing: ['wait', IconClock],
  scheduled: ['wait', IconCalendar],
  failed: ['bad', IconX],
  missing: ['bad', IconX],
  wrong: ['bad', IconX],
  expired: ['bad', IconX],
  suspended: ['bad', IconPlayerStop],
  bounced: ['bad', IconArrowBackUp],
  complained: ['bad', IconFlag],
  aborting: ['bad', IconPlayerStop],
  disabled: ['bad', IconPlayerStop],
  unknown: ['warn', IconQuestionMark],
  warning: ['warn', IconAlertTriangle],
  running: ['act', IconPlayerPlay],
}

type Props = {
  /** The exact word of the API. */
  state: string
  /** A reason code, after the word. */
  reason?: string | null
  /** For a word that is not a state of the table. */
  tone?: Tone
}

/** A label that shows a state. It is never a button; filters are buttons. */
export function Chip({ state, reason, tone }: Props) {
  const [found, IconOf] = STATES[state] ?? ['still', IconCircle]
  return (
    <span className={`c ${tone ?? found}`}>
      <IconOf size={14} stroke={1.75} aria-hidden />
      {state}
      {reason ? ` · ${reason}` : ''}
    </span>
  )
}
