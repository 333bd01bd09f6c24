import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Num } from './number.tsx'

/** The states of messages, in the order of the bar, with the fill of each. */
const GROUPS = [
  [
    'handedOver',
    [
      ['delivered', 'f-good'],
      ['sent', 'f-info'],
      ['bounced', 'f-bad'],
      ['complained', 'f-bad'],
    ],
  ],
  ['uncertain', [['unknown', 'f-warn']]],
  [
    'notSent',
    [
      ['skipped', 'f-skip'],
      ['failed', 'f-bad'],
      ['aborted', 'f-still'],
    ],
  ],
  [
    'toCome',
    [
      ['deferred', 'f-wait'],
      ['claimed', 'f-still'],
      ['queued', 'f-open'],
    ],
  ],
] as const

type Props = {
  /** Messages by state. */
  counts: Partial<Record<string, number>>
  /** All messages. If the states do not add up to it, the line says by how much. */
  total: number
  /** Shows the bar and the sum without the list of states. */
  isShort?: boolean
}

/** One bar whose parts are listed, and whose sum is written out. */
export function Tally({ counts, total, isShort }: Props) {
  const { t, i18n } = useTranslation()
  const number = new Intl.NumberFormat(i18n.language)
  const groups = GROUPS.map(([id, states]) => {
    const parts = states.map(([state, fill]) => ({ state, fill, count: counts[state] ?? 0 }))
    return { id, parts, sum: parts.reduce((sum, { count }) => sum + count, 0) }
  })
  const difference = total - groups.reduce((all, { sum }) => all + sum, 0)
  return (
    <div className="tally">
      <div className="bar" role="img" aria-label={t('tally.label', { total: number.format(total) })}>
        {groups.flatMap(({ parts }) =>
          parts
            .filter(({ count }) => count > 0)
            .map(({ state, fill, count }) => (
              <i key={state} className={fill} style={{ flex: count }} title={`${state} ${number.format(count)}`} />
            )),
        )}
      </div>
      {!isShort && (
        <div className="leg">
          {groups.map(({ id, parts, sum }) => (
            <section key={id}>
              <h3>
                {t(`tally.${id}`)}
                <b>
                  <Num value={sum} />
                </b>
              </h3>
              <ul>
                {parts.map(({ state, fill, count }) => (
                  <li key={state} className={count === 0 ? 'quiet' : undefined}>
                    <i className={`sw ${fill}`} />
                    {state}
                    <span>
                      <Num value={count} />
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
      )}
      <p className="sum">
        {difference === 0 ? (
          <span className="ok">
            <IconCheck size={14} stroke={1.75} aria-hidden />
            {t('tally.addsUp')}
          </span>
        ) : (
          <span className="tb">
            <IconAlertTriangle size={14} stroke={1.75} aria-hidden /> {t('tally.missing', { difference: number.format(difference) })}
          </span>
        )}
        <span>
          {groups.map(({ sum }) => number.format(sum)).join(' + ')} = <b>{number.format(total - difference)}</b>
        </span>
      </p>
    </div>
  )
}
