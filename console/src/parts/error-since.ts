import { useState } from 'react'

/** The error of a write in a dialog: none of before the dialog was opened. */
export function useErrorSince<E>(isOpen: boolean, error: E): E | null {
  const [before, setBefore] = useState<{ isOpen: boolean; error: E | null }>({ isOpen, error: null })
  if (before.isOpen !== isOpen) setBefore({ isOpen, error: isOpen ? error : before.error })
  return error === before.error ? null : error
}
