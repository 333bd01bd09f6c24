import type { ErrorComponentProps } from '@tanstack/react-router'
import { Failed } from '../parts/failed.tsx'

/** What stands in place of a screen that failed. */
export function ScreenFailed({ error, reset }: ErrorComponentProps) {
  return (
    <div className="alone">
      <Failed error={error} onRetry={reset} />
    </div>
  )
}
