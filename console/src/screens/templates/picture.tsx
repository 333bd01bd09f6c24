import { useIntersection } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { keyOf } from '../../parts/data.ts'
import { PreviewFrame } from '../../parts/preview-frame.tsx'
import { useApi, useProject } from '../../session/project.tsx'
import type { ListedTemplate } from './search.ts'

const PREVIEW = '/api/client/campaigns/{campaignId}/preview'
const EMAIL_WIDTH = 600
/** As much as is shown of it. */
const HEIGHT_MIN = 400
const KEPT_MS = 60_000

/** A thumbnail of a template. It is rendered when it scrolls into view. */
export function Picture({ template }: { template: ListedTemplate }) {
  const { t } = useTranslation('templates')
  const { ref, entry } = useIntersection<HTMLDivElement>({ rootMargin: '200px' })
  const { campaign_id: campaignId, campaign_name: name, channel, locale, variant, updated_at } = template
  const api = useApi()
  const { id } = useProject()
  const body = { locale, variant }
  const { data } = useQuery({
    queryKey: keyOf(id, PREVIEW, { campaignId, body, updated_at }),
    queryFn: ({ signal }) => api.post(PREVIEW, { path: { campaignId }, body, signal }),
    enabled: entry?.isIntersecting === true,
    staleTime: KEPT_MS,
  })
  const content = (data?.content ?? {}) as Record<string, unknown>
  return (
    <div ref={ref} className="picture" aria-hidden inert>
      {channel === 'email' && typeof content.html === 'string' && (
        <PreviewFrame html={content.html} title={t('picture', { name, locale })} width={EMAIL_WIDTH} heightMin={HEIGHT_MIN} />
      )}
      {channel !== 'email' && data && (
        <p dir="auto">
          {typeof content.title === 'string' && <b>{content.title}</b>}
          {typeof content.body === 'string' ? content.body : String(content.endpoint ?? '')}
        </p>
      )}
    </div>
  )
}
