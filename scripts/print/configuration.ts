import { settings } from '../../server/src/infra/runtime/config.ts'
import { code, table } from './markdown.ts'

type AnySetting = { description: string; fallback: unknown; type: string; secret?: boolean }

/** A page with every setting, in the order of `infra/runtime/config.ts`. */
export const configurationPage = (): string => `# Configuration

The server reads its settings from the environment when it starts. If some are invalid, it prints all problems and does not
start. All settings are optional in the development profile; \`NODE_ENV=production\` requires \`SECRETS_KEY\` and
\`SESSION_JWT_KEYS\`. An empty setting is treated as absent.

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
