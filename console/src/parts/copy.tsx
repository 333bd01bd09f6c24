import { ActionIcon, Tooltip } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

const SHOWN_MS = 2000

/** Copies a value. Its name says which: "Copy the id". */
export function CopyButton({ value, label }: { value: string; label: string }) {
  const { t } = useTranslation()
  const { copied, copy } = useClipboard({ timeout: SHOWN_MS })
  return (
    <Tooltip label={copied ? t('copied') : label}>
      <ActionIcon variant="subtle" color="gray" size={24} className="copy" onClick={() => copy(value)} aria-label={label}>
        {copied ? <IconCheck size={14} stroke={1.75} aria-hidden /> : <IconCopy size={14} stroke={1.5} aria-hidden />}
        <output className="vh">{copied ? t('copied') : ''}</output>
      </ActionIcon>
    </Tooltip>
  )
}

/** A value that can be pasted back, with its button. */
export function Copyable({ value, label }: { value: string; label: string }) {
  return (
    <span className="copyable">
      <code>{value}</code>
      <CopyButton value={value} label={label} />
    </span>
  )
}
