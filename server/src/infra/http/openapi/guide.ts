/** What holds for every operation, in Markdown: the introduction of the reference and of the description. */
import { ORGANISATION_ROLES, ROLES } from '../../../lib/roles.ts'
import { VERSIONS } from '../../../lib/versions.ts'
import { LIMIT_DEFAULT } from '../paging.ts'

export type Section = { id: string; title: string; text: string }

const listed = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(', ')

export const GUIDE: Section[] = [
  {
    id: 'authentication',
    title: 'Authentication',
    text: `Send your key with every request, as \`Authorization: Bearer <key>\`. Its prefix tells what it was made for:

- \`sk_\` **secret**: the whole project, within the role of the key. For servers only.
- \`pk_\` **publishable**: the few operations that are safe in a browser or an app. Most of them also want a user token.
- \`ok_\` **organisation**: the projects of an organisation and their keys.

A key has a role, and each operation names the lowest one that may use it. In a project they are, from least to most, ${listed(ROLES)}; \`smtpproxy\` has the rights of \`support\`. In an organisation they are ${listed(ORGANISATION_ROLES)}.

A **user token** lets a publishable key speak for one user. Your server mints it with [createUserSession](#createUserSession), your app sends it as \`X-Service-User-Token\`.`,
  },
  {
    id: 'requests',
    title: 'Requests and replies',
    text: `Bodies are JSON in UTF-8; the utilities take forms. A body may be compressed with gzip, deflate or br. Unknown parameters are refused, so that a typing error cannot lose data.

In a \`PATCH\`, what is absent stays as it is, and null clears what may be null. Times are ISO 8601, in UTC when we write them. Ids are integers.

Every reply carries an \`X-Request-Id\`. Quote it when something looks wrong.`,
  },
  {
    id: 'errors',
    title: 'Errors',
    text: `Every error has one of 16 codes and the same shape: \`code\` for your program, \`message\` for you, and in \`error.errors\` every fault of the request with its parameter. What each code means and what to do about it is on [the page of errors](/docs/errors). Match on the code; messages may change.`,
  },
  {
    id: 'idempotency',
    title: 'Safe retries',
    text: `Send an \`Idempotency-Key\` of your own making, such as a UUID, with any write. The request then takes effect once, however often it is sent: for 24 hours the same key gets the same reply, marked \`Idempotent-Replayed: true\`. The same key with another request is refused. Failures of the server and requests that were refused before they ran are not remembered, so you may correct them and use the same key.`,
  },
  {
    id: 'lists',
    title: 'Lists',
    text: `A list comes in pages of ${LIMIT_DEFAULT} unless you set \`limit\`. Follow \`nextCursor\` until it is null; \`prevCursor\` with \`page=prev\` goes back. A cursor remembers sort, direction and \`q\`, never expires, and does not repeat or skip rows when others come and go. \`limit=-1\` returns everything at once, up to a maximum.`,
  },
  {
    id: 'rate-limits',
    title: 'Rate limits',
    text: `Limits are counted per key. The headers \`RateLimit\` and \`RateLimit-Policy\` tell what is left, as do \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (seconds). A refused request has the status 429 and a \`Retry-After\` in seconds.`,
  },
  {
    id: 'versions',
    title: 'Versions',
    text: `A version is a date, and the served ones are ${listed(VERSIONS)}. A project stays on the version that was newest when it was made; the \`Service-Version\` header chooses another one for a request, and every reply says which was used. New operations, optional parameters and members of replies can appear without a new version.`,
  },
]

export const INTRODUCTION =
  'One server for email, text, push, webhook and in-app messages. This is its whole interface, written from the code that answers.'
