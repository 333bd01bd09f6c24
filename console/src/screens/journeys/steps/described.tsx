import type { ReactNode } from 'react'
import type { FieldSchema } from '../../../parts/schema-fields.ts'

export type FieldProps = {
  name: string
  schema: FieldSchema
  value: unknown
  /** Undefined removes the setting. */
  onChange: (value: unknown) => void
  /** The event that tests beside it are about. */
  event?: string
}

/** The help of a setting, which is Markdown in the API reference. */
export const helpOf = ({ description }: FieldSchema) => description?.replaceAll('`', '')

/** A label and its help, above a field that has no label of its own. */
export function Described({ label, description, children }: { label: string; description: string | undefined; children: ReactNode }) {
  return (
    <div className="described">
      <p className="lbl">{label}</p>
      {description && <p className="xs quiet">{description}</p>}
      {children}
    </div>
  )
}
