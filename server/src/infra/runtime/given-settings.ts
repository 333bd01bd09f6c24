/**
 * The text of each setting: from the environment or, for a secret, from the file that `<NAME>_FILE` names, as Docker and Kubernetes mount
 * secrets. Other programs of the machine can often read the environment of a process, and crash reports contain it; neither has the file
 * (D-OPS-5).
 */
import { readFileSync } from 'node:fs'

export type Environment = Record<string, string | undefined>

/** The text of a setting, and the file that it was read from. */
export type Given = { text: string; file: string | null }

/** The name of the variable with the file of a secret. */
export const fileNameOf = (name: string): string => `${name}_FILE`

/** The texts and the problems, by setting. A setting that is absent or empty has neither. */
export function givenSettings(env: Environment, settings: Record<string, { secret?: boolean }>) {
  const found = Object.entries(settings).map(([name, { secret = false }]) => [name, givenIn(env, name, secret)] as const)
  const given = found.flatMap(([name, one]) => (one !== null && 'text' in one ? [[name, one] as const] : []))
  const problems = found.flatMap(([name, one]) => (one !== null && 'problem' in one ? [[name, one.problem] as const] : []))
  return { given: new Map<string, Given>(given), problems: new Map<string, string>(problems) }
}

/** The secrets whose text in the environment is not that of their file, which is not used. */
export const overriddenFiles = (env: Environment, settings: Record<string, { secret?: boolean }>): string[] =>
  Object.keys(settings).filter((name) => {
    const { text, file } = namedIn(env, name, settings[name]?.secret ?? false)
    if (!text || !file) return false
    const read = readText(file)
    return 'problem' in read || read.text.trim() !== text
  })

export const overriddenText = (name: string): string =>
  `${name} and ${fileNameOf(name)} are both set and have different values. That of ${name} is used.`

/** The environment comes before the file: an operator can override a setting without editing the file. */
function givenIn(env: Environment, name: string, isSecret: boolean): Given | { problem: string } | null {
  const { text, file } = namedIn(env, name, isSecret)
  if (text || !file) return text ? { text, file: null } : null
  const read = readText(file)
  return 'problem' in read ? { problem: `${fileNameOf(name)} cannot be used: ${read.problem}.` } : { text: read.text, file }
}

const namedIn = (env: Environment, name: string, isSecret: boolean) => ({
  text: env[name]?.trim(),
  file: isSecret ? env[fileNameOf(name)]?.trim() : undefined,
})

function readText(path: string): { text: string } | { problem: string } {
  try {
    const text = withoutLastBreak(readFileSync(path, 'utf8'))
    return text.trim() === '' ? { problem: `${path} is empty` } : { text }
  } catch (error) {
    return { problem: readProblem(path, (error as NodeJS.ErrnoException).code) }
  }
}

/** Editors and `echo` end a file with a line break. */
const withoutLastBreak = (text: string): string =>
  text.endsWith('\r\n') ? text.slice(0, -2) : text.endsWith('\n') ? text.slice(0, -1) : text

function readProblem(path: string, code = 'unknown error'): string {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `there is no file ${path}`
    case 'EACCES':
    case 'EPERM':
      return `this process is not permitted to read ${path}`
    case 'EISDIR':
      return `${path} is a directory`
    default:
      return `${path} cannot be read (${code})`
  }
}
