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

function givenIn(env: Environment, name: string, isSecret: boolean): Given | { problem: string } | null {
  const text = env[name]?.trim()
  const file = isSecret ? env[fileNameOf(name)]?.trim() : undefined
  if (!file) return text ? { text, file: null } : null
  if (text) return { problem: `${name} and ${fileNameOf(name)} are both set. Set one of them.` }
  const read = readText(file)
  return 'problem' in read ? { problem: `${fileNameOf(name)} cannot be used: ${read.problem}.` } : { text: read.text, file }
}

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
