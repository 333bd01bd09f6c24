type Named = { external_id: string; email: string | null; phone: string | null; data: Record<string, unknown> }

const text = (value: unknown) => (typeof value === 'string' ? value.trim() : '')

/** What a user is called: the name among the attributes, else an address, else the external id. */
export function nameOf({ data, email, phone, external_id }: Named): string {
  const whole = text(data.name) || [text(data.first_name), text(data.last_name)].filter(Boolean).join(' ')
  return whole || email || phone || external_id
}
