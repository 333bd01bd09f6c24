import type { Reply } from '@carillon/sdk'

type Contact = Reply<'/api/ext/generic/data/generate/contact', 'post'>['data']['contacts'][number]

/** The part of a name that templates greet with, and the rest. */
function namesOf(name: string): { first_name: string; last_name?: string } {
  const [first_name = name, ...rest] = name.trim().split(/\s+/)
  return { first_name, ...(rest.length > 0 && { last_name: rest.join(' ') }) }
}

/** Generated contacts as users. They have no phone number, because a generated one may belong to a real person. */
export const usersOf = (contacts: Contact[]) =>
  contacts.map(({ id, name, email, company, website }) => ({
    external_id: `sample-${id}`,
    email,
    data: { ...namesOf(name), company, website, is_sample: true },
  }))
