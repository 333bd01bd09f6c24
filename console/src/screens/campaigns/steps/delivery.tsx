import { NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useArrival } from '../../../parts/arrival.ts'
import { useReadAll } from '../../../parts/data.ts'
import { withGone } from '../../../parts/gone.ts'
import { Loading } from '../../../parts/loading.tsx'
import { useMay } from '../../../session/project.tsx'
import type { Draft } from '../draft.ts'
import { Retries } from './retries.tsx'
import type { StepProps } from './step.ts'

type FieldsProps = { draft: Draft; change: (draft: Draft) => void }

/** A choice is left out if there is nothing to choose from and nothing to remove, unless it is kept in its place. */
type ChoiceProps = FieldsProps & { isKept: boolean }

/** What can be chosen, and what was chosen and is gone. Until the first is read, nothing is known to be gone. */
const optionsOf = (options: { value: string; label: string }[] | undefined, chosen: number | null | undefined, gone: string) =>
  options ? withGone(options, typeof chosen === 'number' ? [chosen] : [], () => gone) : []

/** The provider of the messages, their rate and deadline, and the parameters of their links. */
export function DeliveryStep({ campaign: { channel }, autosave: { draft, change } }: StepProps) {
  const { t } = useTranslation('campaigns')
  const isAdmin = useMay('admin')
  const hasLinks = channel !== 'webhook'
  const providers = useReadAll('/api/client/providers', {}, { enabled: isAdmin })
  const domains = useReadAll('/api/client/domains', {}, { enabled: hasLinks })
  const arrival = useArrival(providers, domains)
  if (arrival === 'waiting') return <Loading />
  const isEarly = arrival === 'early'
  return (
    <div className="form pad narrow">
      {isAdmin && (
        <ProviderField
          providers={providers.data?.filter((provider) => provider.channel === channel)}
          isKept={isEarly}
          draft={draft}
          change={change}
        />
      )}
      <RateFields draft={draft} change={change} />
      <NumberInput
        label={t('field.expires')}
        description={t('field.expiresAbout')}
        value={draft.expires_after_hours}
        min={1}
        allowDecimal={false}
        onChange={(hours) => typeof hours === 'number' && hours > 0 && change({ ...draft, expires_after_hours: hours })}
      />
      {channel === 'email' && (
        <Retries retries={draft.mail_retries ?? null} onChange={(retries) => change({ ...draft, mail_retries: retries })} />
      )}
      {hasLinks && (
        <>
          <DomainField domains={domains.data} isKept={isEarly} draft={draft} change={change} />
          <UtmFields draft={draft} change={change} />
        </>
      )}
    </div>
  )
}

type ProvidersProps = ChoiceProps & { providers: { id: number; name: string; kind: string }[] | undefined }

function ProviderField({ providers, isKept, draft, change }: ProvidersProps) {
  const { t } = useTranslation('campaigns')
  const read = providers?.map(({ id, name, kind }) => ({ value: String(id), label: `${name} · ${kind}` }))
  const options = optionsOf(read, draft.provider_id, t('delivery.goneProvider'))
  if (options.length === 0 && !isKept) return null
  return (
    <Select
      label={t('delivery.provider')}
      description={t('delivery.providerAbout')}
      placeholder={t('delivery.default')}
      disabled={options.length === 0}
      data={options}
      value={draft.provider_id ? String(draft.provider_id) : null}
      clearable
      onChange={(id) => change({ ...draft, provider_id: id === null ? null : Number(id) })}
    />
  )
}

const RATE_FIRST = { limit: 1000, interval_seconds: 60 }

function RateFields({ draft, change }: FieldsProps) {
  const { t } = useTranslation('campaigns')
  const rate = draft.rate ?? null
  const write = (name: keyof typeof RATE_FIRST) => (value: string | number) =>
    rate && typeof value === 'number' && value > 0 && change({ ...draft, rate: { ...rate, [name]: value } })
  return (
    <>
      <Switch
        label={t('delivery.rate')}
        description={t('delivery.rateAbout')}
        checked={rate !== null}
        onChange={(event) => change({ ...draft, rate: event.currentTarget.checked ? RATE_FIRST : null })}
      />
      {rate && (
        <div className="two">
          <NumberInput
            label={t('delivery.limit')}
            value={rate.limit}
            min={1}
            max={1_000_000}
            allowDecimal={false}
            onChange={write('limit')}
          />
          <NumberInput
            label={t('delivery.interval')}
            value={rate.interval_seconds}
            min={1}
            max={86_400}
            allowDecimal={false}
            onChange={write('interval_seconds')}
          />
        </div>
      )}
    </>
  )
}

type DomainsProps = ChoiceProps & { domains: { id: number; host: string }[] | undefined }

function DomainField({ domains, isKept, draft, change }: DomainsProps) {
  const { t } = useTranslation('campaigns')
  const read = domains?.map(({ id, host }) => ({ value: String(id), label: host }))
  const options = optionsOf(read, draft.custom_domain_id, t('delivery.goneDomain'))
  if (options.length === 0 && !isKept) return null
  return (
    <Select
      label={t('delivery.domain')}
      description={t('delivery.domainAbout')}
      placeholder={t('delivery.default')}
      disabled={options.length === 0}
      data={options}
      value={draft.custom_domain_id ? String(draft.custom_domain_id) : null}
      clearable
      onChange={(id) => change({ ...draft, custom_domain_id: id === null ? null : Number(id) })}
    />
  )
}

const UTM = ['source', 'medium', 'campaign', 'term', 'content'] as const
const UTM_NEEDED: readonly string[] = ['source', 'medium', 'campaign']
const UTM_MAX = 255

function UtmFields({ draft, change }: FieldsProps) {
  const { t } = useTranslation('campaigns')
  const utm = draft.utm ?? null
  const write = (name: (typeof UTM)[number], text: string) => {
    if (!utm) return
    const { [name]: _, ...others } = utm
    // Without one of the first three the parameters are none, so a field that was emptied keeps what it had.
    if (text === '' && UTM_NEEDED.includes(name)) return
    change({ ...draft, utm: { ...others, ...(text !== '' && { [name]: text }) } as typeof utm })
  }
  const first = { source: 'newsletter', medium: 'email', campaign: draft.name.slice(0, UTM_MAX) }
  return (
    <>
      <Switch
        label={t('delivery.utm')}
        description={t('delivery.utmAbout')}
        checked={utm !== null}
        onChange={(event) => change({ ...draft, utm: event.currentTarget.checked ? first : null })}
      />
      {utm &&
        UTM.map((name) => (
          <TextInput
            key={name}
            label={`utm_${name}`}
            required={UTM_NEEDED.includes(name)}
            maxLength={UTM_MAX}
            value={utm[name] ?? ''}
            onChange={(event) => write(name, event.currentTarget.value)}
          />
        ))}
    </>
  )
}
