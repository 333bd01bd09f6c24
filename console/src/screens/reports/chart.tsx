import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { DayBars, useDay } from '../../parts/day-bars.tsx'
import { DayTable } from '../../parts/day-table.tsx'
import { Card } from '../../parts/page.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { TabBar } from '../../parts/tabs.tsx'
import { csvOfDays } from './csv.ts'
import { changeOf, FIGURES, type Figure, type Report } from './search.ts'
import { useSigned } from './words.ts'

type Props = { report: Report; figure: Figure; onFigure: (figure: Figure) => void }

/** One figure by day, as bars from zero, in words and as a table of all figures. */
export function DaysChart({ report, figure, onFigure }: Props) {
  const { t } = useTranslation('reports')
  const { since, until, days } = report
  const words = useWords(report, figure)
  const save = () => saveFile({ name: `messages-${since}-${until}.csv`, type: 'text/csv', text: csvOfDays(report) })
  return (
    <Card
      title={t('days.heading')}
      actions={
        <Button variant="default" size="xs" onClick={save}>
          {t('days.csv')}
        </Button>
      }
    >
      <div className="tools report-figures">
        <TabBar
          label={t('figures')}
          isSmall
          tabs={FIGURES.map((id) => ({ id, label: t(`figure.${id}`) }))}
          current={figure}
          onChange={(id) => onFigure(id as Figure)}
        />
      </div>
      <DayBars days={days.map((one) => ({ day: one.day, value: one[figure] }))} words={words} />
      <details className="day-table">
        <summary>{t('days.table')}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled with the keyboard. */}
        <section className="across" tabIndex={0} aria-label={t('days.heading')}>
          <DayTable
            label={t('days.heading')}
            dayLabel={t('column.day')}
            figures={FIGURES.map((name) => ({ name, label: t(`figure.${name}`) }))}
            days={days}
          />
        </section>
      </details>
    </Card>
  )
}

/** What the chart shows, as a sentence or two. */
function useWords({ total, previous, days }: Report, figure: Figure): string {
  const { t, i18n } = useTranslation('reports')
  const number = new Intl.NumberFormat(i18n.language)
  const day = useDay()
  const signed = useSigned()
  const change = changeOf(total[figure], previous[figure])
  const best = days.reduce((best, one) => (one[figure] > best[figure] ? one : best))
  const sum = t('words.sum', { figure: t(`figure.${figure}`), sum: number.format(total[figure]), count: days.length })
  const compared =
    change === null ? t('words.nothingBefore') : t('words.before', { change: signed(change), before: number.format(previous[figure]) })
  const most = total[figure] === 0 ? '' : t('words.most', { day: day(best.day), most: number.format(best[figure]) })
  return [sum, compared, most].filter(Boolean).join(' ')
}
