/** Display names that variables fill in: whatever they contain, they are no address and no part of one. Pure. */
import { splitMarked, VALUE } from '../../lib/liquid/marks.ts'

/** Whether a member of an email is one mailbox, whose name may contain commas, or a list of them. */
export type MailboxMember = 'one' | 'list'

/** Puts the display names that contain values of variables into quotes, in a text that was rendered with its outputs marked. */
export function quoteNames(rendered: string, member: MailboxMember): string {
  const marked = splitMarked(rendered)
  if (!marked) return rendered
  const values = marked.values.values()
  const filled = (text: string) => text.replaceAll(VALUE, () => values.next().value ?? '')
  const mailboxes = member === 'one' ? [marked.authored] : piecesOf(marked.authored)
  return mailboxes
    .map((mailbox) => quoteName(mailbox, filled))
    .join('')
    .trim()
}

/** The mailboxes of a list, and the separators between them, as every provider reads them. */
function piecesOf(list: string): string[] {
  const pieces = ['']
  let [isQuoted, isEscaped] = [false, false]
  for (const character of list) {
    if (!isQuoted && (character === ',' || character === ';')) pieces.push(character, '')
    else pieces[pieces.length - 1] += character
    if (character === '"' && !isEscaped) isQuoted = !isQuoted
    isEscaped = isQuoted && character === '\\' && !isEscaped
  }
  return pieces
}

function quoteName(mailbox: string, filled: (text: string) => string): string {
  const open = mailbox.trimEnd().endsWith('>') ? mailbox.lastIndexOf('<') : -1
  const name = mailbox.slice(0, Math.max(open, 0))
  if (!name.includes(VALUE)) return filled(mailbox)
  // The author's own quotes and backslashes are read, and those of a value are part of the name.
  const words = filled(name.replace(/\\(.)|"/g, '$1')).trim()
  return ` "${words.replace(/["\\]/g, '\\$&')}" ${filled(mailbox.slice(open))}`
}
