import { ActionIcon, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useMay, useProject } from '../session/project.tsx'
import { notice } from './notice.ts'
import { type ShownRequest, samplesOf } from './request-code.ts'

/** Toasts are above dialogs, and a menu may be in a toast. */
const ABOVE_TOASTS = 500

type Audited = { type: string; id: number }

type Props = {
  request: ShownRequest
  children?: ReactNode
  label: string
  /** In place of the dots. */
  icon?: ReactNode
  /** For a line of text. */
  isSmall?: boolean
  /** Something of the menu is being done. */
  isPending?: boolean
  /** What the audit log calls the object. Its changes are an item of the menu, for admins. */
  audited?: Audited
}

/** The menu of an object: its own items, and the request behind it as code. */
export function CopyAs({ request, children, label, icon, isSmall = false, isPending = false, audited }: Props) {
  const { t } = useTranslation()
  const copy = async (text: string, language: string) => {
    await navigator.clipboard.writeText(text)
    notice(t('copiedAs', { language }))
  }
  return (
    <Menu position={isSmall ? 'bottom-start' : 'bottom-end'} zIndex={ABOVE_TOASTS}>
      <Menu.Target>
        <ActionIcon variant={isSmall ? 'subtle' : 'default'} size={isSmall ? 24 : 32} aria-label={label} loading={isPending}>
          {icon ?? <IconDots size={16} stroke={1.5} aria-hidden />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {children}
        {audited && <AuditItem {...audited} />}
        {samplesOf(request, location.origin).map(({ language, text }) => (
          <Menu.Item key={language} onClick={() => void copy(text, language)}>
            {t('copyAs', { language })}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function AuditItem({ type, id }: Audited) {
  const { t } = useTranslation()
  const project = useProject()
  if (!useMay('admin')) return null
  return (
    <Menu.Item
      renderRoot={(props) => (
        <Link
          {...props}
          to="/p/$project/audit"
          params={{ project: String(project.id) }}
          search={{ object_type: type, object_id: String(id) }}
        />
      )}
    >
      {t('auditLog')}
    </Menu.Item>
  )
}
