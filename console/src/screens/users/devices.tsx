import type { components } from '@carillon/sdk'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { Card } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'

/** The installations of apps and browsers that take push messages. */
export function Devices({ user: { devices } }: { user: components['schemas']['UserReply'] }) {
  const { t } = useTranslation('users')
  if (devices.length === 0) return null
  return (
    <Card title={t('devices.heading')} aside={devices.length}>
      <ul className="lines">
        {devices.map(({ device_id, os, os_version, model, has_token, updated_at }) => (
          <li key={device_id}>
            <span>
              {[model, os, os_version].filter(Boolean).join(' ') || device_id}
              <span className="r">
                {t('devices.updated')} <Time at={updated_at} />
              </span>
            </span>
            <Chip state={t(has_token ? 'devices.token' : 'devices.noToken')} tone={has_token ? 'good' : 'still'} />
          </li>
        ))}
      </ul>
    </Card>
  )
}
