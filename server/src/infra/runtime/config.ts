/** Reads the settings: once, validated together, and frozen. */
import { type Environment, type Given, givenSettings } from './given-settings.ts'
import { keyProblems } from './key-problems.ts'
import { misnamedSettings, misnamedText } from './misnamed-settings.ts'
import type { Setting } from './setting-types.ts'
import { settings } from './settings.ts'

export type Config = { readonly [K in keyof typeof settings]: (typeof settings)[K]['fallback'] } & { readonly production: boolean }

/** Allowed in the development profile, so that local receivers of webhooks can be reached (D-TCP-3). */
const LOOPBACK = ['127.0.0.0/8', '::1/128']

/** All problems of the configuration, each on its own line. */
export class ConfigError extends Error {}

/** Reads and validates the environment. Throws one `ConfigError` with all problems, and with the names in it that may be misspelt. */
export function readConfig(env: Environment): Config {
  const { config, problem } = inspectConfig(env)
  if (problem === null) return config
  const misnamed = misnamedSettings(env, settings)
  const names = misnamed.length > 0 ? `\nThe environment also has:\n${misnamed.map((name) => `- ${misnamedText(name)}`).join('\n')}` : ''
  throw new ConfigError(`${problem}${names}`)
}

/** A setting: its text with the file that it was read from, unless it has its default, and whether the text is valid. */
type Inspected = { name: string; given: Given | null; isValid: boolean; value: unknown }

/** What the environment says. If there is a problem, settings with an invalid text have their defaults in `config`. */
export function inspectConfig(env: Environment): { config: Config; problem: string | null; settings: Inspected[] } {
  const { given, problems: unread } = givenSettings(env, settings)
  const read = Object.entries(settings).map(([name, setting]) => readSetting(name, setting as Setting<unknown>, given.get(name)))
  const own = { ...Object.fromEntries(read.map(({ name, value }) => [name, value])), production: env.NODE_ENV === 'production' } as Config
  const config = own.production ? own : { ...own, EGRESS_ALLOW_CIDRS: [...LOOPBACK, ...own.EGRESS_ALLOW_CIDRS] }
  const problems = [
    ...unread.values(),
    ...read.flatMap(({ problem }) => problem ?? []),
    ...(config.production ? missingInProduction(config, unread) : []),
    ...keyProblems(config),
    ...providerProblems(config),
  ]
  return {
    config: Object.freeze(config),
    problem:
      problems.length > 0
        ? `The configuration has ${problems.length} problem(s):\n${problems.map((line) => `- ${line}`).join('\n')}`
        : null,
    settings: read.map(({ name, problem }) => ({
      name,
      given: given.get(name) ?? null,
      isValid: problem === null && !unread.has(name),
      value: config[name as keyof Config],
    })),
  }
}

function readSetting(name: string, { fallback, parse }: Setting<unknown>, given: Given | undefined) {
  if (given === undefined) return { name, value: fallback, problem: null }
  const parsed = parse(given.text)
  if ('value' in parsed) return { name, value: parsed.value, problem: null }
  return { name, value: fallback, problem: `${name} ${given.file === null ? '' : `in ${given.file} `}${parsed.problem}.` }
}

/** One whose file cannot be used is not missing. */
function missingInProduction(config: Config, unread: ReadonlyMap<string, string>): string[] {
  return (['SECRETS_KEY', 'SESSION_JWT_KEYS'] as const)
    .filter((name) => config[name].length === 0 && !unread.has(name))
    .map((name) => `${name} is required in production. ${settings[name].description}`)
}

function providerProblems({ OIDC_ISSUER, OIDC_CLIENT_ID, LOCAL_SIGN_IN, production }: Config): string[] {
  if (OIDC_ISSUER === undefined)
    return LOCAL_SIGN_IN ? [] : ['LOCAL_SIGN_IN can be false only if OIDC_ISSUER is set. Otherwise no member could sign in.']
  return [
    ...(OIDC_CLIENT_ID === undefined ? ['OIDC_ISSUER needs OIDC_CLIENT_ID.'] : []),
    ...(production && !OIDC_ISSUER.startsWith('https:') ? ['OIDC_ISSUER must be an https: URL.'] : []),
  ]
}
