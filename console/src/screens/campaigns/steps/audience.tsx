import type { components } from '@carillon/sdk'
import { Autocomplete, Button, JsonInput, MultiSelect, NumberInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useArrival } from '../../../parts/arrival.ts'
import { useRead, useReadAll, useWrite } from '../../../parts/data.ts'
import { useEdited } from '../../../parts/edited.ts'
import { Failed } from '../../../parts/failed.tsx'
import { withGone } from '../../../parts/gone.ts'
import { LIVE_MS } from '../../../parts/live/interval.ts'
import { Loading } from '../../../parts/loading.tsx'
import { Card } from '../../../parts/page.tsx'
import { OPTIONS_MAX } from '../../../parts/paging.ts'
import { said } from '../../../parts/toast.ts'
import type { Draft } from '../draft.ts'
import { Funnel } from '../funnel.tsx'
import type { StepProps } from './step.ts'

const LISTS = '/api/client/lists'
const EVERYONE = { attribute: 'external_id', is_set: true } as components['schemas']['Rule']

/** Who gets the campaign. */
export const AudienceStep = (props: StepProps) => (props.campaign.type === 'blast' ? <Lists {...props} /> : <Event {...props} />)

/** Many lists are read page by page, so less often. */
const paceOf = (lists: unknown[]) => (lists.length > 100 ? 10 : 1) * LIVE_MS

function Lists({ campaign, autosave }: StepProps) {
  const { t, i18n } = useTranslation('campaigns')
  const { draft, change, state } = autosave
  const { list_ids: chosen = [], exclusion_list_ids: excluded = [] } = draft
  const read = useReadAll(
    LISTS,
    {},
    { refetchInterval: ({ state }) => (state.data?.some(({ state }) => state === 'building') ? paceOf(state.data) : false) },
  )
  const { data, error } = read
  const lists = data ?? []
  const number = new Intl.NumberFormat(i18n.language)
  const options = lists.map(({ id, name, users_count }) => ({ value: String(id), label: `${name} (${number.format(users_count)})` }))
  const optionsOf = (ids: number[]) => (data ? withGone(options, ids, (id) => t('audience.gone', { id })) : options)
  const used = lists.filter(({ id }) => chosen.includes(id) || excluded.includes(id))
  const isReady = chosen.length > 0 && state === 'saved' && used.every(({ state }) => state === 'ready')
  const arrival = useArrival(read)
  if (arrival === 'waiting') return <Loading />
  return (
    <div className="cols main-side">
      <Card title={t('step.audience')}>
        <div className="form pad">
          <MultiSelect
            label={t('audience.lists')}
            description={t('audience.listsAbout')}
            data={optionsOf(chosen)}
            value={chosen.map(String)}
            onChange={(ids) => change({ ...draft, list_ids: ids.map(Number) })}
            searchable
            limit={OPTIONS_MAX}
          />
          <Everyone lists={data} isKept={arrival === 'early'} onCreated={(id) => change({ ...draft, list_ids: [...chosen, id] })} />
          <MultiSelect
            label={t('audience.exclusions')}
            description={t('audience.exclusionsAbout')}
            data={optionsOf(excluded)}
            value={excluded.map(String)}
            onChange={(ids) => change({ ...draft, exclusion_list_ids: ids.map(Number) })}
            searchable
            limit={OPTIONS_MAX}
          />
          <NumberInput
            label={t('audience.holdout')}
            description={t('audience.holdoutAbout')}
            min={0}
            max={90}
            allowDecimal={false}
            value={draft.holdout_percent ?? 0}
            onChange={(percent) => typeof percent === 'number' && change({ ...draft, holdout_percent: percent })}
          />
          {/* Below the fields, which stay where they are when the lists are read again. */}
          {error && !data && <Failed error={error} />}
        </div>
      </Card>
      <Card title={t('funnel.heading')}>
        {chosen.length === 0 ? (
          <p className="pad sm quiet">{t('funnel.noList')}</p>
        ) : (
          <Funnel
            campaignId={campaign.id}
            isReady={isReady}
            version={JSON.stringify([
              draft.subscription_id,
              draft.holdout_percent,
              chosen,
              excluded,
              used.map(({ updated_at }) => updated_at),
            ])}
          />
        )}
      </Card>
    </div>
  )
}

type EveryoneProps = { lists: components['schemas']['List'][] | undefined; isKept: boolean; onCreated: (id: number) => void }

/** Makes a list of all users. The button is left out if there is such a list, unless it is kept in its place. */
function Everyone({ lists, isKept, onCreated }: EveryoneProps) {
  const { t } = useTranslation('campaigns')
  const create = useWrite(
    (api) => api.post(LISTS, { body: { name: t('audience.everyone'), type: 'dynamic', rule: EVERYONE } }),
    [LISTS],
    ({ id, name }) => {
      onCreated(id)
      said(t('audience.created', { name }))
    },
  )
  const isMissing = lists !== undefined && !lists.some(({ rule }) => JSON.stringify(rule) === JSON.stringify(EVERYONE))
  if (!isMissing && !isKept) return null
  return (
    <>
      {create.error && <Failed error={create.error} />}
      <div className="acts">
        <Button variant="default" size="xs" disabled={!isMissing} loading={create.isPending} onClick={() => create.mutate(undefined)}>
          {t('audience.createEveryone')}
        </Button>
      </div>
    </>
  )
}

function Event({ autosave: { draft, change } }: StepProps) {
  const { t } = useTranslation('campaigns')
  const { data } = useRead('/api/client/schema/events', { query: { limit: 100, sort: 'count', direction: 'desc' } })
  return (
    <Card title={t('step.audience')}>
      <div className="form pad narrow">
        <Autocomplete
          label={t('audience.event')}
          description={t('audience.eventAbout')}
          data={(data?.results ?? []).map(({ name }) => name)}
          value={draft.event_name ?? ''}
          onChange={(name) => change({ ...draft, event_name: name === '' ? null : name })}
        />
        <EventRule rule={draft.event_rule} onChange={(event_rule) => change({ ...draft, event_rule })} />
      </div>
    </Card>
  )
}

type RuleProps = { rule: Draft['event_rule']; onChange: (rule: NonNullable<Draft['event_rule']>) => void }

/** The rule for the event, as JSON. Half-typed JSON changes nothing, and the field says so. */
function EventRule({ rule, onChange }: RuleProps) {
  const { t } = useTranslation('campaigns')
  const { edited, edit, give } = useEdited(rule ?? {}, (rule) => (Object.keys(rule).length > 0 ? JSON.stringify(rule, null, 2) : ''))
  const write = (text: string) => {
    edit(text)
    const rule = ruleIn(text)
    if (rule === undefined) return
    give(rule)
    onChange(rule)
  }
  return (
    <JsonInput
      label={t('audience.rule')}
      description={t('audience.ruleAbout')}
      placeholder={'{ "where": [{ "attribute": "data.total", "greater_than": 50 }] }'}
      autosize
      minRows={3}
      formatOnBlur
      validationError={t('form.json')}
      value={edited}
      onChange={write}
    />
  )
}

function ruleIn(text: string): NonNullable<Draft['event_rule']> | undefined {
  try {
    return text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    return undefined
  }
}
