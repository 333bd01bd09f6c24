import { Modal } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { merge } from '../../parts/merge.ts'
import { said } from '../../parts/toast.ts'
import { TypedNumber } from '../../parts/typed-number.tsx'
import { SITE, SITES, type Site } from './search.ts'

type Limits = NonNullable<Site['project_limits']>

/** The limits of the project for a site, beside the limits of the server. */
export function SiteLimits({ site, onClose }: { site: Site | null; onClose: () => void }) {
  const { t } = useTranslation('mail')
  return (
    <Modal
      opened={site !== null}
      onClose={onClose}
      title={t('limits.title', { site: site?.label ?? '' })}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      {site && <Form site={site} onClose={onClose} />}
    </Modal>
  )
}

function Form({ site: { site, label, limits, project_limits }, onClose }: { site: Site; onClose: () => void }) {
  const { t } = useTranslation('mail')
  const [begun] = useState<Limits>(project_limits ?? {})
  const [atOnce, setAtOnce] = useState(begun.mails_at_once)
  const [perSecond, setPerSecond] = useState(begun.mails_per_second)
  const save = useWrite(
    async (api, entered: Limits) => {
      const { project_limits: now } = await api.get(SITE, { path: { site } })
      const wanted = merge<Limits>(begun, entered, now ?? {}).value
      return api.put(SITE, { path: { site }, body: { limits: Object.keys(wanted).length > 0 ? wanted : null } })
    },
    [SITES],
    () => {
      onClose()
      said(t('limits.done', { site: label }))
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ ...(atOnce !== undefined && { mails_at_once: atOnce }), ...(perSecond !== undefined && { mails_per_second: perSecond }) })
  }
  return (
    <form className="form" onSubmit={submit}>
      {save.error && <Failed error={save.error} />}
      <p className="sm">{t('limits.about', { connections: limits.connections, rate: limits.mails_per_second })}</p>
      <TypedNumber label={t('limits.atOnce')} min={1} max={1000} allowDecimal={false} value={atOnce} onChange={setAtOnce} />
      <TypedNumber
        label={t('limits.perSecond')}
        description={t('limits.perSecondAbout')}
        max={100_000}
        value={perSecond}
        onChange={setPerSecond}
      />
      <FormButtons onCancel={onClose} isPending={save.isPending}>
        {t('limits.submit')}
      </FormButtons>
    </form>
  )
}
