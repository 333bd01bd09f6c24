import type { CarillonError, components } from '@carillon/sdk'
import { ActionIcon, Button, JsonInput, Radio, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'
import { instant } from '../../parts/time.tsx'
import { useApi, useMay } from '../../session/project.tsx'
import type { Editing } from './editing.ts'
import type { Journey } from './search.ts'
import { Visits } from './visits.tsx'

type Input = components['schemas']['JourneySimulateInput']
type Result = components['schemas']['JourneySimulateReply']
type Happening = { at: string; event: string; data: string }

const USERS = ['made', 'known'] as const
const DAY_MS = 86_400_000
const MINUTE_CHARACTERS = 16
const MINUTE_MS = 60_000

/** An instant as fields of date and time have it, in the time of this browser. */
const localOf = (at: number) => new Date(at - new Date(at).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, MINUTE_CHARACTERS)

/** What would happen to a user in the steps as they are drawn. Nothing is written, sent or called. */
export function Simulator({ journey, editing }: { journey: Journey; editing: Editing }) {
  const { t } = useTranslation('journeys')
  const api = useApi()
  const maySimulate = useMay('editor')
  const simulate = useMutation<Result, CarillonError, Input>({
    mutationFn: (body) => api.post('/api/client/journeys/{journeyId}/simulate', { path: { journeyId: journey.id }, body }),
    meta: { isOfMember: true },
  })
  if (!maySimulate) return <p className="quiet">{t('simulate.needsEditor')}</p>
  return (
    <div className="cols halves">
      <Card title={t('simulate.heading')}>
        <Setting editing={editing} isPending={simulate.isPending} onRun={simulate.mutate} />
      </Card>
      <Card title={t('simulate.result')}>
        {simulate.error && <Failed error={simulate.error} />}
        {simulate.data ? <Walk result={simulate.data} editing={editing} /> : <p className="pad quiet sm">{t('simulate.about')}</p>}
      </Card>
    </div>
  )
}

/** The event that the first entrance waits for. */
const firstEvent = ({ graph }: Editing): string =>
  String(Object.values(graph).find(({ type, data }) => type === 'entrance' && data.trigger === 'event')?.data.event_name ?? '')

type SettingProps = { editing: Editing; isPending: boolean; onRun: (body: Input) => void }

function Setting({ editing, isPending, onRun }: SettingProps) {
  const { t } = useTranslation('journeys')
  const [from, setFrom] = useState<string>('made')
  const [userId, setUserId] = useState('')
  const [profile, setProfile] = useState('{\n  "email": "ana@example.com",\n  "data": { "name": "Ana" }\n}')
  const [at, setAt] = useState(() => localOf(Date.now()))
  const [happenings, setHappenings] = useState<Happening[]>(() => {
    const event = firstEvent(editing)
    return event === '' ? [] : [{ at: localOf(Date.now()), event, data: '' }]
  })
  const [faulty, setFaulty] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    try {
      const user = from === 'known' ? { external_id: userId.trim() } : { profile: JSON.parse(profile) as object }
      const inputs = happenings.map(({ at, event, data }) => ({
        at: new Date(at).toISOString(),
        event: { name: event, ...(data.trim() !== '' && { data: JSON.parse(data) as object }) },
      }))
      setFaulty(false)
      onRun({ steps: editing.graph, user, at: new Date(at).toISOString(), inputs } as unknown as Input)
    } catch {
      // A value that is no JSON, or no date: the form says so.
      setFaulty(true)
    }
  }
  return (
    <form className="form pad" onSubmit={submit}>
      <Radio.Group label={t('simulate.user')} value={from} onChange={setFrom}>
        {USERS.map((id) => (
          <Radio key={id} mt="xs" value={id} label={t(`simulate.${id}`)} />
        ))}
      </Radio.Group>
      {from === 'known' ? (
        <TextInput label={t('simulate.id')} required value={userId} onChange={(event) => setUserId(event.currentTarget.value)} />
      ) : (
        <JsonInput label={t('simulate.profile')} autosize minRows={4} maxRows={12} value={profile} onChange={setProfile} />
      )}
      <TextInput
        type="datetime-local"
        label={t('simulate.at')}
        required
        value={at}
        onChange={(event) => setAt(event.currentTarget.value)}
      />
      <Happenings happenings={happenings} onChange={setHappenings} />
      {faulty && <p className="say bad sm">{t('simulate.faulty')}</p>}
      <div className="acts">
        <Button type="submit" loading={isPending}>
          {t('simulate.submit')}
        </Button>
      </div>
    </form>
  )
}

/** What the user does, and when. */
function Happenings({ happenings, onChange }: { happenings: Happening[]; onChange: (happenings: Happening[]) => void }) {
  const { t } = useTranslation('journeys')
  const set = (index: number, change: Partial<Happening>) =>
    onChange(happenings.with(index, { ...(happenings[index] as Happening), ...change }))
  const add = () => {
    // The field of a time can be empty.
    const last = Date.parse(happenings.at(-1)?.at ?? '')
    onChange([...happenings, { at: localOf(Number.isNaN(last) ? Date.now() : last + DAY_MS), event: '', data: '' }])
  }
  return (
    <div className="described">
      <p className="lbl">{t('simulate.inputs')}</p>
      {happenings.map((happening, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: what happens has no id, and keeps its order.
        <fieldset key={index} className="item">
          <legend className="vh">{t('simulate.input', { number: index + 1 })}</legend>
          <TextInput
            size="xs"
            type="datetime-local"
            label={t('simulate.inputAt')}
            required
            value={happening.at}
            onChange={(event) => set(index, { at: event.currentTarget.value })}
          />
          <TextInput
            size="xs"
            label={t('simulate.event')}
            required
            value={happening.event}
            onChange={(event) => set(index, { event: event.currentTarget.value })}
          />
          <TextInput
            size="xs"
            label={t('simulate.data')}
            placeholder='{"total": 50}'
            value={happening.data}
            onChange={(event) => set(index, { data: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size={28}
            aria-label={t('simulate.removeInput', { number: index + 1 })}
            onClick={() => onChange(happenings.toSpliced(index, 1))}
          >
            <IconX size={16} stroke={1.5} aria-hidden />
          </ActionIcon>
        </fieldset>
      ))}
      <Button variant="default" size="xs" leftSection={<IconPlus size={14} stroke={1.75} aria-hidden />} onClick={add}>
        {t('simulate.addInput')}
      </Button>
    </div>
  )
}

/** The walk of the user, and the messages. */
function Walk({ result: { visits, messages, refused, outcome, next_due }, editing }: { result: Result; editing: Editing }) {
  const { t, i18n } = useTranslation('journeys')
  const at = (at: string) => instant(i18n.language, { at })
  return (
    <div aria-live="polite">
      {refused.map(({ at: when, reason }) => (
        <p key={`${when} ${reason}`} className="say warn sm">
          {t('simulate.refused', { at: at(when) })} <code>{reason}</code>
        </p>
      ))}
      <Visits visits={visits} editing={editing} />
      {messages.map((message) => (
        <p key={`${message.visit} ${message.step}`} className="entry sm">
          <Chip state={message.eligible ? 'sent' : 'skipped'} reason={message.reason} /> {at(message.at)}
          <span className="r">{textOf(message.rendered)}</span>
        </p>
      ))}
      <p className="pad sm">
        {outcome && (
          <>
            <Chip state={outcome.as} reason={outcome.reason} /> {at(outcome.at)}
          </>
        )}
        {next_due && t('simulate.next', { at: at(next_due) })}
      </p>
    </div>
  )
}

/** What a message is recognised by: its subject, title or text. */
const textOf = (rendered: Record<string, unknown> | undefined): string =>
  String([rendered?.subject, rendered?.title, rendered?.body, rendered?.text].find((text) => typeof text === 'string') ?? '')
