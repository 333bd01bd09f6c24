import type { Source } from './sources.ts'

/** The source of an `sql` template, and the name of its declaration, such as `users.findUser`. */
export type Template = { name: string; text: string }

/** The outermost `sql` templates of a file, each with its declaration. */
export function templatesOf({ path, text }: Source): Template[] {
  const module = /modules\/([\w-]+)\//.exec(path)?.[1] ?? path
  const templates: Template[] = []
  let end = 0
  for (const { index } of text.matchAll(/\bsql`/g)) {
    if (index < end) continue
    end = endOfTemplate(text, index + 'sql`'.length)
    const declared = [...text.slice(0, index).matchAll(/^(?:export )?(?:async )?(?:const|function) (\w+)/gm)].at(-1)
    templates.push({ name: `${module}.${declared?.[1]}`, text: text.slice(index + 'sql`'.length, end - 1) })
  }
  return templates
}

/** Whether it is a complete statement, not a part of one. */
export const isStatement = ({ text }: Template): boolean =>
  /^\s*(select|insert|update|delete|with|copy|create|alter|drop|truncate|lock)\b/i.test(text)

/** The position after the backtick that closes the template which begins at `at`. */
function endOfTemplate(text: string, at: number): number {
  let depth = 0
  while (at < text.length) {
    const two = text.slice(at, at + 2)
    if (two[0] === '`' && depth === 0) return at + 1
    if (two[0] === '`') at = endOfTemplate(text, at + 1)
    else if (two === '${' || two[0] === '\\') at += 2
    else at++
    if (two === '${' || (two[0] === '{' && depth > 0)) depth++
    if (two[0] === '}' && depth > 0) depth--
  }
  throw new Error('A template does not end.')
}
