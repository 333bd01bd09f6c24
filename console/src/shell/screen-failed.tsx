import type { ErrorComponentProps } from '@tanstack/react-router'
import { Failed } from '../parts/failed.tsx'

/** Browsers keep that the code of a part was not found, for example because the server has another release by now. */
const isMissingCode = (error: unknown) =>
  error instanceof Error && /dynamically imported module|importing a module script/i.test(error.message)

/** Shown in place of a screen that failed. */
export function ScreenFailed({ error, reset }: ErrorComponentProps) {
  return (
    <div className="alone">
      <Failed error={error} onRetry={isMissingCode(error) ? () => window.location.reload() : reset} />
    </div>
  )
}
