import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { instant } from '../../../parts/time.tsx'
import { useProject } from '../../../session/project.tsx'
import { offsetOf, type Wave, wavesOf } from './waves.ts'

/** Zones that stand for a wave before all others, because most readers know them. */
const KNOWN = [
  'Pacific/Auckland',
  'Australia/Sydney',
  'Asia/Tokyo',
  'Asia/Singapore',
  'Asia/Kolkata',
  'Asia/Dubai',
  'Europe/Berlin',
  'Europe/London',
  'America/Sao_Paulo',
  'America/New_York',
  'America/Chicago',
  'America/Denver',
  'America/Los_Angeles',
]
const NAMED_MAX = 3

/** A local time in the time zone of each user: when it comes in each zone, from the first to the last. */
export function Waves({ local }: { local: string }) {
  const { t, i18n } = useTranslation('campaigns')
  const { timezone } = useProject()
  const waves = useMemo(() => wavesOf(local, Intl.supportedValuesOf('timeZone')), [local])
  const [first, last] = [waves[0], waves.at(-1)]
  if (!first || !last) return null
  const at = (wave: Wave) => instant(i18n.language, { at: wave.at })
  const hours = Math.round((last.at.getTime() - first.at.getTime()) / 3_600_000)
  return (
    <>
      <p className="sm quiet">{t('waves.about', { first: at(first), last: at(last), hours })}</p>
      <details>
        <summary>{t('waves.all', { count: waves.length })}</summary>
        <table className="rows plain-rows" aria-label={t('waves.label')}>
          <thead>
            <tr>
              <th scope="col">{t('waves.at')}</th>
              <th scope="col">{t('waves.zone')}</th>
            </tr>
          </thead>
          <tbody>
            {waves.map((wave) => (
              <tr key={wave.at.getTime()}>
                <th scope="row">
                  {at(wave)}
                  {wave.at.getTime() < Date.now() && <span className="r tb">{t('waves.past')}</span>}
                </th>
                <td>
                  {offsetOf(wave.offsetMin)}
                  <span className="r">{namesOf(wave, timezone).join(', ')}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  )
}

function namesOf({ zones }: Wave, own: string): string[] {
  const rank = (zone: string) => (zone === own ? -1 : KNOWN.includes(zone) ? 0 : 1)
  return zones
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, NAMED_MAX)
    .map((zone) => zone.replaceAll('_', ' '))
}
