import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import { ListPage } from '../../parts/list-page.tsx'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { Time } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { AddDomain } from './add.tsx'
import { DOMAINS, type Domain, nameOf, stateOf } from './search.ts'

const route = getRouteApi('/member/p/$project/domains')

/** The domains of senders and of links, with what the last check of their records found. */
export function Domains() {
  const { t } = useTranslation('domains')
  const search = route.useSearch()
  const mayAdd = useMay('admin')
  const [isAdding, setAdding] = useState(false)
  const query = { ...search, limit: 50 }
  const domains = useRead(DOMAINS, { query }, { keepsPrevious: true })
  return (
    <>
      <ListPage
        texts="domains"
        request={{ path: DOMAINS, query }}
        columns={useColumns()}
        rows={domains}
        search={search}
        action={mayAdd && <AddButton onClick={() => setAdding(true)}>{t('add.open')}</AddButton>}
      />
      <AddDomain isOpen={isAdding} onClose={() => setAdding(false)} />
    </>
  )
}

function useColumns(): SavedColumn<Domain>[] {
  const { t } = useTranslation('domains')
  const project = String(useProject().id)
  return [
    {
      id: 'name',
      label: t('column.name'),
      text: nameOf,
      also: [{ label: t('default'), text: ({ is_default }) => t(is_default ? 'rule.yes' : 'rule.no') }],
      cell: (domain) => (
        <>
          <Link className="plain" to="/p/$project/domains/$domainId" params={{ project, domainId: String(domain.id) }}>
            {nameOf(domain)}
          </Link>
          {domain.is_default && <span className="r">{t('default')}</span>}
        </>
      ),
    },
    {
      id: 'email',
      label: t('column.email'),
      text: ({ sending, checked_at }) => (sending ? stateOf(sending.is_verified, checked_at) : t('linksOnly')),
      also: [{ label: t('csv.detail'), text: ({ sending }) => sending?.problem }],
      isWide: true,
      cell: ({ sending, checked_at }) =>
        sending ? (
          <>
            <Chip state={stateOf(sending.is_verified, checked_at)} />
            {sending.problem && <span className="r">{sending.problem}</span>}
          </>
        ) : (
          <span className="quiet">{t('linksOnly')}</span>
        ),
    },
    {
      id: 'links',
      label: t('column.links'),
      text: ({ is_verified, checked_at }) => stateOf(is_verified, checked_at),
      also: [{ label: t('csv.host'), text: ({ host }) => host }],
      isExtra: true,
      cell: ({ host, is_verified, checked_at }) => (
        <>
          <Chip state={stateOf(is_verified, checked_at)} />
          <code className="r">{host}</code>
        </>
      ),
    },
    {
      id: 'checked',
      label: t('column.checked'),
      text: ({ checked_at }) => checked_at,
      isNumber: true,
      isExtra: true,
      cell: ({ checked_at }) => (checked_at === null ? <span className="quiet">–</span> : <Time at={checked_at} />),
    },
  ]
}
