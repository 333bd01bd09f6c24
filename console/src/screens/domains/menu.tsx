import { Menu } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { ConfirmWrite } from '../../parts/confirm-write.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useWrite } from '../../parts/data.ts'
import { said } from '../../parts/toast.ts'
import { useMay, useProject } from '../../session/project.tsx'
import { DOMAIN, DOMAINS, type Domain, nameOf } from './search.ts'

type Open = 'default' | 'rotate' | 'delete' | null

/** The menu with actions that admins rarely use on a domain, and with the request behind the domain as code. */
export function DomainMenu({ domain }: { domain: Domain }) {
  const { t } = useTranslation('domains')
  const mayChange = useMay('admin')
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const props = { domain, onClose: close }
  return (
    <>
      <CopyAs
        label={t('moreOf', { name: nameOf(domain) })}
        request={{ method: 'GET', path: DOMAIN, params: { domainId: domain.id } }}
        audited={{ type: 'domain', id: domain.id }}
      >
        {mayChange && !domain.is_default && <Menu.Item onClick={() => setOpen('default')}>{t('makeDefault.open')}</Menu.Item>}
        {mayChange && domain.sending && <Menu.Item onClick={() => setOpen('rotate')}>{t('rotate.open')}</Menu.Item>}
        {mayChange && (
          <Menu.Item color="ember" onClick={() => setOpen('delete')}>
            {t('delete.open')}
          </Menu.Item>
        )}
      </CopyAs>
      <MakeDefault {...props} isOpen={open === 'default'} />
      <Rotate {...props} isOpen={open === 'rotate'} />
      <Delete {...props} isOpen={open === 'delete'} />
    </>
  )
}

type Props = { domain: Domain; isOpen: boolean; onClose: () => void }

/** Campaigns without a domain send differently afterwards, so it is confirmed. */
function MakeDefault({ domain, isOpen, onClose }: Props) {
  const { t } = useTranslation('domains')
  const name = nameOf(domain)
  return (
    <ConfirmWrite
      isOpen={isOpen}
      onClose={onClose}
      title={t('makeDefault.title', { name })}
      action={t('makeDefault.action')}
      isDanger={false}
      write={(api) => api.patch(DOMAIN, { path: { domainId: domain.id }, body: { is_default: true } })}
      changes={[DOMAINS]}
      done={t('makeDefault.done', { name })}
    >
      <p>{t('add.defaultAbout')}</p>
    </ConfirmWrite>
  )
}

function Rotate({ domain, isOpen, onClose }: Props) {
  const { t } = useTranslation('domains')
  const rotate = useWrite(
    (api) => api.post('/api/client/domains/{domainId}/rotate-keys', { path: { domainId: domain.id } }),
    [DOMAINS],
    ({ records }) => {
      onClose()
      said(t(records.length > domain.records.length ? 'rotate.done' : 'rotate.none'))
    },
  )
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={t('rotate.title', { name: nameOf(domain) })}
      action={t('rotate.action')}
      isDanger={false}
      isPending={rotate.isPending}
      error={rotate.error}
      onConfirm={() => rotate.mutate(undefined)}
    >
      <p>{t('rotate.about')}</p>
    </Confirm>
  )
}

function Delete({ domain, isOpen, onClose }: Props) {
  const { t } = useTranslation('domains')
  const navigate = useNavigate()
  const project = String(useProject().id)
  const name = nameOf(domain)
  return (
    <ConfirmWrite
      isOpen={isOpen}
      onClose={onClose}
      title={t('delete.title', { name })}
      action={t('delete.action')}
      typed={name}
      write={(api) => api.delete(DOMAIN, { path: { domainId: domain.id } })}
      changes={[DOMAINS]}
      leave={() => navigate({ to: '/p/$project/domains', params: { project }, ignoreBlocker: true })}
      done={t('delete.done', { name })}
    >
      <p>{t('delete.about')}</p>
    </ConfirmWrite>
  )
}
