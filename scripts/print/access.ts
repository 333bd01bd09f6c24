import type { PublicPage } from '../../server/src/infra/http/public-page.ts'
import type { Access, Route } from '../../server/src/infra/http/route.ts'
import { code, table } from './markdown.ts'

/** A page with every route and the keys that may call it. */
export const accessPage = (routes: Route[], pages: PublicPage[]): string => `# Access

Each column shows the lowest role that may call the route with that kind of key; a dash means 403. The roles of a project
key are, lowest first, \`support\`, \`editor\`, \`publisher\` and \`admin\`. A key with the role \`smtpproxy\` may call the routes that
name it, and no others. Those of an organisation key are \`member\`, \`admin\` and \`owner\`. "With user token" means with the header \`X-Service-User-Token\`.

${table(
  ['Route', 'Secret key `sk_`', 'Publishable key `pk_`', 'Organisation key `ok_`', 'What it does'],
  routes
    .filter(({ access }) => !isOfConsole(access))
    .sort(byPath)
    .map(({ method, path, access, summary }) => [code(`${method} ${path}`), ...rolesOf(access), summary]),
)}

## The console

A member who is signed in to the console may call all routes above, with the role in the project that the header \`Carillon-Project\` names; without the
header, with the role in the organisation. These routes take no key. Most need a session; the column has the lowest role in the organisation.

${table(
  ['Route', 'Member', 'Without a session, what protects it', 'What it does'],
  routes
    .filter(({ access }) => isOfConsole(access))
    .sort(byPath)
    .map(({ method, path, access, summary }) => [code(`${method} ${path}`), ...consoleRolesOf(access), summary]),
)}

## Public pages

Links in messages and callbacks of providers need no key. Each is protected in another way.

${table(
  ['Page', 'What protects it', 'What it does'],
  [...pages].sort(byPath).map(({ method, path, open, summary }) => [code(`${method} ${path}`), open, summary]),
)}
`

const byPath = (a: Endpoint, b: Endpoint) => compare(a.path, b.path) || compare(a.method, b.method)
type Endpoint = { path: string; method: string }
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

const isOfConsole = (access: Access): boolean => 'member' in access || 'open' in access

const consoleRolesOf = (access: Access): string[] => ['member' in access ? code(access.member) : '–', 'open' in access ? access.open : '–']

function rolesOf(access: Access): string[] {
  const secret = 'secret' in access ? code(access.secret) : '–'
  const publishable = 'publishable' in access ? PUBLISHABLE[access.publishable as keyof typeof PUBLISHABLE] : '–'
  const organisation = 'organisation' in access ? code(access.organisation) : '–'
  const more = [...('smtpproxy' in access ? [code('smtpproxy')] : []), ...('ownKey' in access ? ['the key itself'] : [])]
  return [[secret, ...more].join(', or '), publishable, organisation]
}

const PUBLISHABLE = { user: 'with user token', anonymous: 'with or without user token' }
