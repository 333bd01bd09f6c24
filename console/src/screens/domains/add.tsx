import type { components } from '@carillon/sdk'
import { Modal, Switch, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { useProject } from '../../session/project.tsx'
import { DOMAINS } from './search.ts'

type Input = components['schemas']['DomainInput']

/** Adds a domain, and opens it with the records to publish. */
export function AddDomain({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('domains')
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('add.title')} closeButtonProps={{ 'aria-label': t('close') }}>
      <Form onClose={onClose} />
    </Modal>
  )
}

function Form({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('domains')
  const navigate = useNavigate()
  const project = String(useProject().id)
  const [domain, setDomain] = useState('')
  const [host, setHost] = useState('')
  const [isDefault, setDefault] = useState(false)
  const add = useWrite(
    (api, body: Input) => api.post(DOMAINS, { body }),
    [DOMAINS],
    ({ id }) => {
      onClose()
      void navigate({ to: '/p/$project/domains/$domainId', params: { project, domainId: String(id) } })
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate({ ...(domain && { sending_domain: domain }), ...(host && { host }), is_default: isDefault })
  }
  return (
    <form className="form" onSubmit={submit}>
      {add.error && <Failed error={add.error} />}
      <TextInput
        label={t('add.domain')}
        description={t('add.domainAbout')}
        placeholder="example.com"
        spellCheck={false}
        data-autofocus
        value={domain}
        onChange={(event) => setDomain(event.currentTarget.value.trim())}
      />
      <TextInput
        label={t('add.host')}
        description={t('add.hostAbout')}
        placeholder={`links.${domain || 'example.com'}`}
        spellCheck={false}
        value={host}
        onChange={(event) => setHost(event.currentTarget.value.trim())}
      />
      <Switch
        label={t('add.default')}
        description={t('add.defaultAbout')}
        checked={isDefault}
        onChange={(event) => setDefault(event.currentTarget.checked)}
      />
      <FormButtons onCancel={onClose} isPending={add.isPending} disabled={domain === '' && host === ''}>
        {t('add.submit')}
      </FormButtons>
    </form>
  )
}
