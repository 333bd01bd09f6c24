import { useState } from 'react'

/**
 * The row that is open beside a list, and whether the page that is shown has it. A row that has left the page, as newer ones appear, is the one
 * that was seen last.
 */
export function useOpened<T>(rows: T[] | undefined, isOpen: (row: T) => boolean): { opened: T | undefined; isShown: boolean } {
  const found = rows?.find(isOpen)
  const [seen, setSeen] = useState(found)
  if (found !== undefined && found !== seen) setSeen(() => found)
  const opened = found ?? (seen !== undefined && isOpen(seen) ? seen : undefined)
  return { opened, isShown: found !== undefined }
}
