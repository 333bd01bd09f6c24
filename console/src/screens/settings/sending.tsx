import { Button, MultiSelect, Switch, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { CHANNELS } from '../../parts/channels.ts'
import { useRead } from '../../parts/data.ts'
import { afterSave, useDraft } from '../../parts/edited.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card } from '../../parts/page.tsx'
import { RequiredNumber } from '../../parts/typed-number.tsx'
import { useUndoableWrite } from '../../parts/undoable-write.ts'
import { useMay, useProject } from '../../session/project.tsx'
import { type Cap, NEW_CAP, NEW_QUIET_HOURS, type QuietHours } from './fields.ts'
import { POLICY, type Policy } from './search.ts'

type Channels = Cap['channels']

/** Quiet hours and frequency caps. */
export function Sending() {
  const policy = useRead(POLICY, {})
  // What is being typed stays when reading again fails.
  if (policy.error && !policy.data) return <Failed error={policy.error} onRetry={() => void policy.refetch()} />
  if (!policy.data) return <Loading />
  return <Form stored={policy.data} />
}

function Form({ stored }: { stored: Policy }) {
  const { t } = useTranslation('settings')
  const isFixed = !useMay('admin')
  const [draft, setDraft] = useDraft(stored)
  const save = useUndoableWrite(
    { read: (api) => api.get(POLICY), write: (api, policy: Policy) => api.put(POLICY, { body: policy }) },
    [POLICY],
    t('saved'),
    (sent, saved) => setDraft(afterSave(sent, saved)),
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ value: draft, before: stored })
  }
  return (
    <form className="stack" onSubmit={submit}>
      <p className="quiet">{t('sending.about')}</p>
      {save.error && <Failed error={save.error} />}
      <Quiet hours={draft.quiet_hours} onChange={(quiet_hours) => setDraft({ ...draft, quiet_hours })} isFixed={isFixed} />
      <Caps caps={draft.caps} onChange={(caps) => setDraft({ ...draft, caps })} isFixed={isFixed} />
      {!isFixed && (
        <div>
          <Button type="submit" loading={save.isPending} disabled={JSON.stringify(draft) === JSON.stringify(stored)}>
            {t('save')}
          </Button>
        </div>
      )}
    </form>
  )
}

type ChannelsProps = { label: string; value: Channels; onChange: (channels: Channels) => void; isFixed: boolean }

function ChannelsField({ label, value, onChange, isFixed }: ChannelsProps) {
  const { t } = useTranslation('settings')
  return (
    <MultiSelect
      label={label}
      required
      disabled={isFixed}
      data={CHANNELS.map((value) => ({ value, label: t(`channel.${value}.name`) }))}
      value={value}
      onChange={(channels) => onChange(channels as Channels)}
    />
  )
}

type QuietProps = { hours: QuietHours | null; onChange: (hours: QuietHours | null) => void; isFixed: boolean }

function Quiet({ hours, onChange, isFixed }: QuietProps) {
  const { t } = useTranslation('settings')
  const { timezone } = useProject()
  return (
    <Card title={t('quiet.heading')}>
      <div className="form pad narrow">
        <Switch
          label={t('quiet.on')}
          description={t('quiet.about', { zone: timezone })}
          disabled={isFixed}
          checked={hours !== null}
          onChange={(event) => onChange(event.currentTarget.checked ? NEW_QUIET_HOURS : null)}
        />
        {hours && (
          <>
            <div className="two">
              {(['from', 'to'] as const).map((end) => (
                <TextInput
                  key={end}
                  type="time"
                  label={t(`quiet.${end}`)}
                  required
                  disabled={isFixed}
                  value={hours[end]}
                  onChange={(event) => onChange({ ...hours, [end]: event.currentTarget.value })}
                />
              ))}
            </div>
            <ChannelsField
              label={t('quiet.channels')}
              value={hours.channels}
              onChange={(channels) => onChange({ ...hours, channels })}
              isFixed={isFixed}
            />
          </>
        )}
      </div>
    </Card>
  )
}

const CAPS_MAX = 20

function Caps({ caps, onChange, isFixed }: { caps: Cap[]; onChange: (caps: Cap[]) => void; isFixed: boolean }) {
  const { t } = useTranslation('settings')
  const set = (index: number, changes: Partial<Cap>) => onChange(caps.map((cap, at) => (at === index ? { ...cap, ...changes } : cap)))
  return (
    <Card
      title={t('caps.heading')}
      actions={
        !isFixed &&
        caps.length < CAPS_MAX && (
          <Button variant="default" onClick={() => onChange([...caps, NEW_CAP])}>
            {t('caps.add')}
          </Button>
        )
      }
    >
      <div className="form pad narrow">
        {caps.length === 0 && <p className="quiet">{t('caps.none')}</p>}
        {caps.map((cap, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a cap is nothing but its place in the list.
          <fieldset className="fields" key={index}>
            <legend>{t('caps.nth', { number: index + 1 })}</legend>
            <div className="two">
              <RequiredNumber
                label={t('caps.max')}
                disabled={isFixed}
                min={1}
                max={1000}
                allowDecimal={false}
                value={cap.max}
                onChange={(max) => set(index, { max })}
              />
              <RequiredNumber
                label={t('caps.hours')}
                disabled={isFixed}
                min={1}
                max={2160}
                allowDecimal={false}
                value={cap.window_hours}
                onChange={(window_hours) => set(index, { window_hours })}
              />
            </div>
            <ChannelsField
              label={t('caps.channels')}
              value={cap.channels}
              onChange={(channels) => set(index, { channels })}
              isFixed={isFixed}
            />
            {!isFixed && (
              <div>
                <Button variant="default" size="xs" onClick={() => onChange(caps.filter((_, at) => at !== index))}>
                  {t('caps.remove', { number: index + 1 })}
                </Button>
              </div>
            )}
          </fieldset>
        ))}
      </div>
    </Card>
  )
}
