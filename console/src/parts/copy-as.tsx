import { ActionIcon, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { type ShownRequest, samplesOf } from './request-code.ts'
import { said } from './toast.ts'

type Props = {
  request: ShownRequest
  children?: ReactNode
  label: string
  /** Something of the menu is being done. */
  isPending?: boolean
}

/** The menu of an object: its own items, and the request behind it as code. */
export function CopyAs({ request, children, label, isPending = false }: Props) {
  const { t } = useTranslation()
  const copy = async (text: string, language: string) => {
    await navigator.clipboard.writeText(text)
    said(t('copiedAs', { language }))
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size={32} aria-label={label} loading={isPending}>
          <IconDots size={16} stroke={1.5} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {children}
        {samplesOf(request, location.origin).map(({ language, text }) => (
          <Menu.Item key={language} onClick={() => void copy(text, language)}>
            {t('copyAs', { language })}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
