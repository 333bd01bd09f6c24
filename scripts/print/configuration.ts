import { fileNameOf } from '../../server/src/infra/runtime/given-settings.ts'
import { settings } from '../../server/src/infra/runtime/settings.ts'
import { code, table } from './markdown.ts'

type AnySetting = { description: string; fallback: unknown; type: string; secret?: boolean }

/** A page with every setting, in the order of `infra/runtime/settings.ts`. */
export const configurationPage = (): string => `# Configuration

The server reads its settings from the environment when it starts. If some are invalid, it prints all problems and does not
start. All settings are optional in the development profile; \`NODE_ENV=production\` requires \`SECRETS_KEY\` and
\`SESSION_JWT_KEYS\`. An empty setting is treated as absent.

A setting that is marked as secret can be in a file instead, as Docker and Kubernetes mount secrets: \`${fileNameOf('SECRETS_KEY')}=/run/secrets/secrets-key\`
takes the value of \`SECRETS_KEY\` from that file, without its last line break. If both are set, the environment holds, with a warning if
the values differ. It is a problem if a file that is used is empty or cannot be read. Files are read when the server starts, so restart it after a change.

\`npx carillon config check\` prints every setting with its value and where that comes from, and every problem. A name in the environment that
is not a setting but looks like one, such as \`DATABSE_URL\`, gets a warning there and in the log of the start.

${table(['Setting', 'Type', 'Default', 'What it does'], Object.entries(settings as Record<string, AnySetting>).map(row))}
`

const row = ([name, { type, fallback, description, secret }]: [string, AnySetting]): string[] => [
  code(name),
  type,
  shown(fallback),
  secret ? `${description} Secret.` : description,
]

function shown(fallback: unknown): string {
  if (fallback === undefined || (Array.isArray(fallback) && fallback.length === 0)) return 'none'
  if (typeof fallback === 'object') return code(Array.isArray(fallback) ? fallback.join(',') : JSON.stringify(fallback))
  return code(String(fallback))
}
