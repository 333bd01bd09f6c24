/** The pages that users read: their blocks of code, the commands in them, and what these print according to the page. */
import { readdirSync, readFileSync } from 'node:fs'

const root = new URL('../../', import.meta.url)

const pagesIn = (folder: string) => readdirSync(new URL(folder, root)).map((file) => `${folder}${file}`)

/** The README, the guides and the pages for operators. */
export const PAGES: readonly string[] = ['README.md', ...pagesIn('docs/guide/'), ...pagesIn('docs/operate/')]

export const readPage = (path: string): string => readFileSync(new URL(path, root), 'utf8')

export type Block = { language: string; code: string }

/** The blocks of code of a text, in order. */
export const blocksOf = (text: string): Block[] =>
  [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => ({ language, code }))

/** What a block needs that a machine without accounts does not have, by its first line: `# Needs an account at Google.` */
export const needOf = ({ code }: Block): string | undefined => /^(?:#|\/\/) (Needs .*\.)$/m.exec(code.split('\n', 1)[0] ?? '')?.[1]

/** The name of the file that a block is, by its first line: `// server.mjs` or `# receive.py`. */
export const fileNameOf = ({ code }: Block): string | undefined => /^(?:#|\/\/) ([\w./-]+\.\w+)$/.exec(code.split('\n', 1)[0] ?? '')?.[1]

/** A command, with what it prints according to the lines after it that begin with `#`. */
export type Step = { command: string; prints?: string }

/** The commands of a shell block. */
export function stepsOf({ code }: Block): Step[] {
  const steps: Step[] = []
  for (const part of code.split(/(?<=^(?!# ).*\n)(?=# )|(?<=^# .*\n)(?!# )/m)) {
    const last = steps.at(-1)
    if (!part.startsWith('# ')) steps.push({ command: part })
    else if (last) last.prints = part.replace(/^# ?/gm, '')
  }
  return steps
}

/** Whether an output ends with what a page says, from the beginning of a line. `…` stands for any text, and white space is not compared. */
export function fits(prints: string, output: string): boolean {
  const plain = (text: string) => text.replace(/\s+/g, '')
  const pattern = plain(prints)
    .split('…')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('.*')
  const expected = new RegExp(`^${pattern}$`, 's')
  const lines = output.split('\n')
  return lines.some((_, at) => expected.test(plain(lines.slice(at).join('\n'))))
}
