import type { ReactNode } from 'react'

type Props = { isReadOnly: boolean; children: ReactNode }

/** What can be changed, unless the member only reads. What opens something else, such as tabs, is outside. */
export const Editable = ({ isReadOnly, children }: Props) => (
  <fieldset className="bare" disabled={isReadOnly}>
    {children}
  </fieldset>
)
