import { canonicalPath, namesOfPath } from '../../../lib/liquid/paths.ts'
import { type Variable, variablesOf } from '../../../lib/liquid/variables.ts'
import { CHANNELS } from '../../../lib/shapes.ts'
import { type Found, type LintContext, lint } from './lint.ts'
import { textsOf } from './reading.ts'

const USER = ['id', 'external_id', 'anonymous_id', 'email', 'phone', 'timezone', 'locale', 'data', 'has_push_device', 'created_at']
const MEMBERS: Record<string, readonly string[]> = {
  campaign: ['id', 'name'],
  project: ['id', 'name', 'locale', 'timezone'],
  unsubscribe_url: [],
  preferences_url: [],
  view_url: [],
}

export const unknownVariable = lint({
  severity: 'warning',
  channels: CHANNELS,
  find: ({ written, about }) => [
    ...textsOf(written).flatMap(({ param, text }) => inText(param, text, about)),
    ...inRequired(written, about),
  ],
  examples: [
    { content: { subject: 'Hi {{ user.data.naem }}', html: 'x\n{{ user.nmae }}\n{{ nobody }}' }, finds: ['subject:1', 'html:2', 'html:3'] },
    { content: { subject: '{{ user.data.name }} {{ user["email"] }}', html: '{{ project.name }}{{ unsubscribe_url }}' }, finds: [] },
    {
      content: { subject: 's', html: '{% assign a = 1 %}{{ a }}{% for i in user.data.name %}{{ i.b }}{{ forloop.index }}{% endfor %}' },
      finds: [],
    },
    {
      content: { subject: '{{ user.data.a\\.b }}{{ user.data.a.b }}', html: 'x' },
      about: { attributes: new Set(['a.b']) },
      finds: ['subject:1'],
    },
    { content: { subject: '{{ user.data.naem }}', html: 'x' }, about: { areAllUsersCounted: false }, finds: ['subject:1'] },
    { content: { subject: '{{ event.data.total }}', html: 'x' }, finds: ['subject:1'] },
    { content: { subject: '{{ event.data.total }}', html: 'x' }, about: { isTrigger: true }, finds: [] },
    { content: { subject: '{{ journey.charge.body.status }}', html: 'x' }, finds: ['subject:1'] },
    {
      content: { subject: '{{ journey.charge.body.status }}', html: 'x', required: ['journey.id'] },
      about: { isTrigger: true },
      finds: [],
    },
    { content: { subject: 's', html: '{{ project.secret }}', required: ['user.data.naem'] }, finds: ['html:1', 'required[0]'] },
    { channel: 'push', content: { title: 't', body: 'b', custom: { a: ['{{ nobody }}'] } }, finds: ['custom.a[0]:1'] },
  ],
})

function inText(param: string, text: string, about: LintContext): Found[] {
  const found = new Map<string, Found>()
  for (const variable of variablesOf(text)) {
    const message = problemOf(variable, about)
    if (message !== null) found.set(`${variable.path} ${variable.line}`, { param, line: variable.line, message })
  }
  return [...found.values()]
}

const inRequired = ({ required = [] }: Record<string, unknown>, about: LintContext): Found[] =>
  (required as string[]).flatMap((path, at) => {
    const message = problemOf({ path: canonicalPath(path), names: namesOfPath(path) ?? [] }, about)
    return message === null ? [] : [{ param: `required[${at}]`, message }]
  })

function problemOf({ path, names: [root = '', member, key] }: Pick<Variable, 'path' | 'names'>, about: LintContext): string | null {
  const name = `\`${path.slice(0, 100)}\``
  // Any trigger campaign can be sent by a journey.
  if (root === 'event' || root === 'journey') return about.isTrigger ? null : `This campaign has no ${root}, so ${name} is always empty.`
  const members = root === 'user' ? USER : Object.hasOwn(MEMBERS, root) ? MEMBERS[root] : undefined
  if (!members)
    return `The variable ${name} does not exist. Use \`user\`, \`event\`, \`journey\`, \`campaign\`, \`project\` or a link such as \`unsubscribe_url\`.`
  if (member === undefined || members.length === 0) return null
  if (!members.includes(member)) return `The variable ${name} does not exist, so it is always empty. Attributes are in \`user.data\`.`
  if (member !== 'data' || root !== 'user' || key === undefined) return null
  // A project without users has no attributes yet, so every key is accepted.
  if (about.attributes.size === 0 || about.attributes.has(key)) return null
  return about.areAllUsersCounted
    ? `No user has ${name}, so it is always empty. Correct the name, or set the attribute first.`
    : `None of the newest 5,000 users has ${name}, nor had any user when attributes were last counted. Correct the name, or set the attribute first.`
}
