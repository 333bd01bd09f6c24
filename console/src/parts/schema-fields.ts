/** Fields drawn from a JSON Schema, so that a new kind of condition or operator needs no code of its own. */
export type FieldSchema = {
  type?: string | string[]
  title?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  format?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  pattern?: string
  writeOnly?: boolean
  items?: FieldSchema
  anyOf?: FieldSchema[]
  oneOf?: FieldSchema[]
  properties?: Record<string, FieldSchema>
  required?: string[]
}

/** “from_name” as “From name”. */
export const labelOf = (name: string): string => {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
