import { useQueries } from '@tanstack/react-query'
import { keyOf, useRead } from '../../../parts/data.ts'
import { useApi, useProject } from '../../../session/project.tsx'
import { ATTACHMENT, ATTACHMENTS } from './files.ts'
import type { Place } from './template.ts'

/** The images that the HTML of a template shows by their ids, as data URLs. */
export function useInlineImages(campaignId: number, { locale, variant }: Place, isWanted: boolean): ReadonlyMap<string, string> {
  const api = useApi()
  const { id } = useProject()
  const { data } = useRead(ATTACHMENTS, { path: { campaignId, locale }, query: { variant } }, { enabled: isWanted })
  const inline = (data?.results ?? []).filter((file) => file.content_id !== null && file.content_type.startsWith('image/'))
  return useQueries({
    queries: inline.map(({ name, updated_at }) => {
      const options = { path: { campaignId, locale, name }, query: { variant } }
      return {
        queryKey: keyOf(id, ATTACHMENT, { ...options, updated_at }),
        queryFn: () => api.get(ATTACHMENT, options),
        staleTime: Number.POSITIVE_INFINITY,
      }
    }),
    combine: (read) =>
      new Map(
        read.flatMap(({ data: file }) =>
          file?.content_id ? [[file.content_id, `data:${file.content_type};base64,${file.content}`] as const] : [],
        ),
      ),
  })
}
