import type { CarillonError, components } from '@carillon/sdk'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { keyOf } from '../../parts/data.ts'
import { type Draft, isComplete, type Rule } from '../../parts/rules/rule.ts'
import { useApi, useProject } from '../../session/project.tsx'

const TYPED_MS = 400

export type Preview = components['schemas']['ListPreviewReply']

/** Who matches a rule, once it is complete and has not been changed for a moment. */
export function usePreview(rule: Draft): UseQueryResult<Preview, CarillonError> {
  const api = useApi()
  const { id } = useProject()
  const [settled] = useDebouncedValue(rule, TYPED_MS)
  return useQuery<Preview, CarillonError>({
    queryKey: keyOf(id, '/api/client/lists/preview', { rule: settled }),
    queryFn: ({ signal }) => api.post('/api/client/lists/preview', { body: { rule: settled as unknown as Rule }, signal }),
    enabled: isComplete(settled),
    placeholderData: keepPreviousData,
  })
}
