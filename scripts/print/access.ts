import type { PublicPage } from '../../server/src/infra/http/public-page.ts'
import type { Access, Route } from '../../server/src/infra/http/route.ts'
import { code, table } from './markdown.ts'

/** Every route and who may call it. */
export const accessPage = (routes: Route[], pages: PublicPage[]): string => `# Who may call what

A role in a column is the lowest that may call the route with that kind of key; a dash means 403. The roles of a project
key are, lowest first, \`support\`, \`editor\`, \`publisher\` and \`admin\`; \`smtpproxy\` has the rights of \`support\`. Those of an
organisation key are \`member\`, \`admin\` and \`owner\`. "With user token" means the header \`X-Service-User-Token\`.

${table(
  ['Route', 'Secret key `sk_`', 'Publishable key `pk_`', 'Organisation key `ok_`', 'What it does'],
  [...routes].sort(byPath).map(({ method, path, access, summary }) => [code(`${method} ${path}`), ...whoMay(access), summary]),
)}

## Without a key

What people come to from a message, and what vendors call. Each is protected by something else than a key.

${table(
  ['Page', 'What protects it', 'What it does'],
  [...pages].sort(byPath).map(({ method, path, open, summary }) => [code(`${method} ${path}`), open, summary]),
)}
`

const byPath = (a: Place, b: Place) => compare(a.path, b.path) || compare(a.method, b.method)
type Place = { path: string; method: string }
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function whoMay(access: Access): string[] {
  const secret = 'secret' in access ? code(access.secret) : '–'
  const publishable = 'publishable' in access ? PUBLISHABLE[access.publishable as keyof typeof PUBLISHABLE] : '–'
  const organisation = 'organisation' in access ? code(access.organisation) : '–'
  return ['ownKey' in access ? `${secret}, or the key itself` : secret, publishable, organisation]
}

const PUBLISHABLE = { user: 'with user token', anonymous: 'with or without user token' }
