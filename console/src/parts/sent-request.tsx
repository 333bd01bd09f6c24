import { Menu } from '@mantine/core'
import { IconCode } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { Write } from '../session/last-write.ts'
import { CopyAs } from './copy-as.tsx'
import { withoutSecrets } from './secrets.ts'

/** The request that was sent for the result beside it, as code. Secrets are left out. */
export function SentRequest({ write }: { write: Write }) {
  const { t } = useTranslation()
  return (
    <CopyAs label={t('sentRequest')} icon={<IconCode size={16} stroke={1.5} aria-hidden />} isSmall request={withoutSecrets(write)}>
      <Menu.Label className="sentpath">{`${write.method} ${write.path}`}</Menu.Label>
    </CopyAs>
  )
}
