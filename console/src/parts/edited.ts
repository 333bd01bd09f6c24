import { type Dispatch, type SetStateAction, useState } from 'react'
import { isSame, merge } from './merge.ts'

/**
 * What a field shows while it is edited, which may not be a value yet: half of a rule, or of JSON. `give` notes the value that the field has
 * given away. When the field gets another one, such as after an undo or from another member, that one is shown instead.
 */
export function useEdited<V, T>(value: V, shownAs: (value: V) => T): { edited: T; edit: (next: T) => void; give: (value: V) => void } {
  const [edited, edit] = useState(() => shownAs(value))
  const [known, give] = useState(() => ({ value }))
  if (!isSame(known.value, value)) {
    give({ value })
    edit(() => shownAs(value))
  }
  return { edited, edit: (next) => edit(() => next), give: (value) => give({ value }) }
}

/**
 * The draft of a form. When what is stored changes, as by another member, the members that were edited stay as they are, and the others take
 * their new values.
 */
export function useDraft<T>(stored: T): [T, Dispatch<SetStateAction<T>>] {
  const [draft, setDraft] = useState(stored)
  const [base, setBase] = useState(() => ({ stored }))
  if (!isSame(base.stored, stored)) {
    setBase({ stored })
    setDraft((draft) => merge(base.stored, draft, stored).value)
  }
  return [draft, setDraft]
}

/** The draft after a save: what was typed since `sent` stays, and the rest is what is stored now. */
export const afterSave =
  <T>(sent: T, saved: T) =>
  (draft: T): T =>
    merge(sent, draft, saved).value
