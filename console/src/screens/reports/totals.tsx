import { useTranslation } from 'react-i18next'
import { useDay } from '../../parts/day-bars.tsx'
import { Num, Rate } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import { changeOf, FIGURES, type Figure, type Report, UNWANTED, wholeOf } from './search.ts'
import { useSigned } from './words.ts'

/** Each figure of the range, beside the days before. */
export function Totals({ report }: { report: Report }) {
  const { t } = useTranslation('reports')
  const day = useDay()
  const { since, until, previous_since, total, previous } = report
  return (
    <Card title={t('totals.heading', { since: day(since), until: day(until) })} aside={t('totals.before', { since: day(previous_since) })}>
      <table className="rows plain-rows" aria-label={t('totals.label')}>
        <thead>
          <tr>
            <th scope="col">{t('column.figure')}</th>
            <th scope="col" className="num">
              {t('column.now')}
            </th>
            <th scope="col" className="num hide-s">
              {t('column.rate')}
            </th>
            <th scope="col" className="num">
              {t('column.before')}
            </th>
            <th scope="col" className="num">
              {t('column.change')}
            </th>
          </tr>
        </thead>
        <tbody>
          {FIGURES.map((figure) => (
            <tr key={figure}>
              <th scope="row">{t(`figure.${figure}`)}</th>
              <td className="num">
                <Num value={total[figure]} />
              </td>
              <td className="num hide-s">
                <Rate part={total[figure]} whole={wholeOf(figure, total)} />
              </td>
              <td className="num">
                <Num value={previous[figure]} />
              </td>
              <td className="num">
                <Change figure={figure} report={report} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="pad sm quiet rule">{t('totals.about')}</p>
    </Card>
  )
}

function Change({ figure, report: { total, previous } }: { figure: Figure; report: Report }) {
  const signed = useSigned()
  const change = changeOf(total[figure], previous[figure])
  if (change === null) return <span className="quiet">–</span>
  return <span className={change > 0 && UNWANTED.includes(figure) ? 'tb nowrap' : 'nowrap'}>{signed(change)}</span>
}
