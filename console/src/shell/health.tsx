import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

const ASKED_EVERY_MS = 60_000

/** The release, and whether the server is ready. */
export function Health() {
  const { t } = useTranslation()
  const { data: version } = useQuery({
    queryKey: ['version'],
    queryFn: async ({ signal }) => ((await (await fetch('/version', { signal })).json()) as { version: string }).version,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { data: isReady = true } = useQuery({
    queryKey: ['ready'],
    queryFn: async ({ signal }) => (await fetch('/readyz', { signal })).ok,
    refetchInterval: ASKED_EVERY_MS,
  })
  return (
    <p className="foot">
      <i className={isReady ? 'ready' : 'unready'} aria-hidden />
      {t('health.version', { version })} · {t(isReady ? 'health.ready' : 'health.unready')}
    </p>
  )
}
