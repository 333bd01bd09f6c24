import { webhookEvents } from '../../server/src/modules/webhook-events/index.ts'
import { code, table } from './markdown.ts'

type Member = { type?: string | string[]; enum?: unknown[]; anyOf?: Member[]; format?: string; description?: string }
type AnyEventKind = {
  type: string
  summary: string
  data: { properties: Record<string, Member>; required?: string[] }
  sample: unknown
}

/** A page with every event type. */
export function webhookEventsPage(): string {
  const all = Object.values(webhookEvents as unknown as Record<string, AnyEventKind>)
  return `# Webhook events

A webhook endpoint can subscribe to ${all.length} event types.

The body of each request is \`{ "id", "type", "timestamp", "project_id", "api_version", "data" }\`. The members of \`data\` depend on
the type; those that are not required are present if they are known.

${table(
  ['Type', 'Sent when'],
  all.map(({ type, summary }) => [`[${code(type)}](#${type.replace('.', '')})`, summary]),
)}

${all.map(section).join('\n\n')}
`
}

const section = ({ type, summary, data, sample }: AnyEventKind): string => `## ${type}

${summary}

${table(
  ['Member of `data`', 'Type', 'Required', 'Description'],
  Object.entries(data.properties).map(([name, member]) => [
    code(name),
    typeOf(member),
    data.required?.includes(name) ? 'yes' : 'no',
    member.description ?? '',
  ]),
)}

\`\`\`json
${JSON.stringify(sample, null, 2)}
\`\`\``

function typeOf({ type, enum: values, anyOf, format }: Member): string {
  if (values) return values.map((value) => code(String(value))).join(', ')
  if (anyOf) return anyOf.map(typeOf).join(' or ')
  return `${[type ?? 'any'].flat().join(' or ')}${format ? ` (${format})` : ''}`
}
