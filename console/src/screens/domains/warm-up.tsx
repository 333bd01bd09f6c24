import { CarillonError, type Client, type components } from '@carillon/sdk'
import { Button, Switch, Textarea } from '@mantine/core'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../../parts/data.ts'
import { useDraft } from '../../parts/edited.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { merge } from '../../parts/merge.ts'
import { Num, Rate } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import { said } from '../../parts/toast.ts'
import { risingNumbersIn } from '../../parts/typed.ts'
import { RequiredNumber } from '../../parts/typed-number.tsx'
import { useMay } from '../../session/project.tsx'
import { WARM_UP } from './search.ts'

type Plan = components['schemas']['DomainWarmUpReply']
type Input = components['schemas']['DomainWarmUpInput']
/** What a member has entered, and what was there. */
type Change = { input: Input; begun: Input }

const inputOf = ({ steps, is_active, bounce_percent_max, deferral_percent_max, is_per_address }: Plan): Input => ({
  steps,
  is_active,
  bounce_percent_max,
  deferral_percent_max,
  is_per_address,
})

const isMissing = (status: number | undefined) => status === 404

/** Returns the plan of a domain, or null if it has none. Throws what the request throws. */
async function findPlan(api: Client, domainId: number): Promise<Plan | null> {
  try {
    return await api.get(WARM_UP, { path: { domainId } })
  } catch (error) {
    if (error instanceof CarillonError && isMissing(error.status)) return null
    throw error
  }
}

/** The warm-up plan of a domain, and the progress for each mail site. */
export function WarmUp({ domainId }: { domainId: number }) {
  const { t } = useTranslation('domains')
  const mayChange = useMay('admin')
  const path = { domainId }
  const { data: plan, error, refetch } = useRead(WARM_UP, { path })
  const save = useWrite(
    async (api, { input, begun }: Change) => {
      const now = await findPlan(api, domainId)
      return api.put(WARM_UP, { path, body: now ? merge(begun, input, inputOf(now)).value : input })
    },
    [WARM_UP],
    () => said(t('warmUp.done')),
  )
  if (error && !plan && !isMissing(error.status)) return <Failed error={error} onRetry={() => void refetch()} />
  if (!plan && !error) return <Loading />
  const begin = mayChange && (
    <Button loading={save.isPending} onClick={() => save.mutate({ input: {}, begun: {} })}>
      {t('warmUp.begin')}
    </Button>
  )
  return (
    <div className="stack">
      {save.error && <Failed error={save.error} />}
      {plan ? (
        <>
          <Card title={t('warmUp.plan')}>
            <PlanForm
              plan={plan}
              mayChange={mayChange}
              isPending={save.isPending}
              onSave={(input) => save.mutate({ input, begun: inputOf(plan) })}
            />
          </Card>
          <Card title={t('warmUp.sites')} aside={t('warmUp.today')}>
            <MailSites plan={plan} />
          </Card>
        </>
      ) : (
        <Card>
          <Empty actions={begin}>{t('warmUp.empty')}</Empty>
        </Card>
      )}
    </div>
  )
}

type FormProps = { plan: Plan; mayChange: boolean; isPending: boolean; onSave: (input: Input) => void }

function PlanForm({ plan, mayChange, isPending, onSave }: FormProps) {
  const { t } = useTranslation('domains')
  const { is_active, bounce_percent_max, deferral_percent_max, is_per_address } = plan
  const stored = { steps: plan.steps.join(', '), is_active, bounce_percent_max, deferral_percent_max, is_per_address }
  const [{ steps, ...rest }, setDraft] = useDraft(stored)
  const set = (changes: Partial<typeof stored>) => setDraft((draft) => ({ ...draft, ...changes }))
  const numbers = steps === stored.steps ? plan.steps : risingNumbersIn(steps)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (numbers) onSave({ ...rest, steps: numbers })
  }
  return (
    <form className="form pad" onSubmit={submit}>
      <Switch
        label={t('warmUp.active')}
        description={t('warmUp.about')}
        checked={rest.is_active}
        disabled={!mayChange}
        onChange={(event) => set({ is_active: event.currentTarget.checked })}
      />
      <Textarea
        label={t('warmUp.steps')}
        description={t('warmUp.stepsAbout')}
        autosize
        readOnly={!mayChange}
        error={numbers === null && t('warmUp.noNumbers')}
        value={steps}
        onChange={(event) => set({ steps: event.currentTarget.value })}
      />
      <div className="acts">
        <RequiredNumber
          label={t('warmUp.bounces')}
          min={0}
          max={100}
          readOnly={!mayChange}
          value={rest.bounce_percent_max}
          onChange={(bounce_percent_max) => set({ bounce_percent_max })}
        />
        <RequiredNumber
          label={t('warmUp.deferrals')}
          min={0}
          max={100}
          readOnly={!mayChange}
          value={rest.deferral_percent_max}
          onChange={(deferral_percent_max) => set({ deferral_percent_max })}
        />
      </div>
      <Switch
        label={t('warmUp.perAddress')}
        checked={rest.is_per_address}
        disabled={!mayChange}
        onChange={(event) => set({ is_per_address: event.currentTarget.checked })}
      />
      {mayChange && (
        <div className="acts">
          <Button type="submit" loading={isPending}>
            {t('warmUp.save')}
          </Button>
        </div>
      )}
    </form>
  )
}

function MailSites({ plan: { sites, steps } }: { plan: Plan }) {
  const { t } = useTranslation('domains')
  if (sites.length === 0) return <Empty>{t('warmUp.none')}</Empty>
  return (
    <table className="rows" aria-label={t('warmUp.sites')}>
      <thead>
        <tr>
          <th scope="col">{t('warmUp.site')}</th>
          <th scope="col">{t('warmUp.step')}</th>
          <th scope="col">{t('warmUp.sent')}</th>
          <th scope="col">{t('warmUp.bounced')}</th>
          <th scope="col">{t('warmUp.deferred')}</th>
        </tr>
      </thead>
      <tbody>
        {sites.map(({ site, source_address, step, ceiling, sent, bounced, deferred }) => (
          <tr key={`${site} ${source_address}`}>
            <th scope="row">
              {site}
              {source_address && <code className="r">{source_address}</code>}
            </th>
            <td>{t('warmUp.stepOf', { step: Math.min(step, steps.length), all: steps.length })}</td>
            <td>{ceiling === null ? <Num value={sent} /> : <Rate part={sent} whole={ceiling} />}</td>
            <td>
              <Rate part={bounced} whole={sent} />
            </td>
            <td>
              <Rate part={deferred} whole={sent} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
