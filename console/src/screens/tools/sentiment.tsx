import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { Tool } from './tool.tsx'

/** How positive an English text is. */
export function Sentiment() {
  const { t } = useTranslation('tools')
  const [text, setText] = useState('')
  const call = useWrite((api) => api.post('/api/ext/generic/text/sentiment-score', { body: { text } }), [])
  return (
    <Tool
      title={t('sentiment.title')}
      about={t('sentiment.about')}
      action={t('sentiment.action')}
      call={call}
      result={({ data: { score, positive, negative } }) => (
        <dl className="kv">
          <dt>{t('sentiment.score')}</dt>
          <dd>
            {score} · {t(score > 0 ? 'sentiment.good' : score < 0 ? 'sentiment.bad' : 'sentiment.neutral')}
          </dd>
          <dt>{t('sentiment.positive')}</dt>
          <dd>{positive.join(', ') || '–'}</dd>
          <dt>{t('sentiment.negative')}</dt>
          <dd>{negative.join(', ') || '–'}</dd>
        </dl>
      )}
    >
      <Textarea
        label={t('sentiment.label')}
        required
        autosize
        minRows={3}
        maxRows={10}
        maxLength={100_000}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </Tool>
  )
}
