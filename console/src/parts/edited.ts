import { useState } from 'react'
import { isSame } from './merge.ts'

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
