/** Reads an email that an application submitted, for the sandbox. */
import PostalMime from 'postal-mime'
import { storableText } from '../../../lib/text.ts'

/** The content of an email, as the sandbox shows it. */
export type SubmittedContent = { subject: string; html: string; text: string; has_attachments?: true }

const NESTING_MAX = 20

/** The content of an email, as the database can store it: encoded text may have U+0000. One that cannot be read is empty. */
export async function readContent(content: Uint8Array): Promise<SubmittedContent> {
  try {
    const { subject = '', html = '', text = '', attachments } = await PostalMime.parse(content, { maxNestingDepth: NESTING_MAX })
    const shown = { subject: storableText(subject), html: storableText(html), text: storableText(text) }
    return attachments.length > 0 ? { ...shown, has_attachments: true } : shown
  } catch {
    return { subject: '', html: '', text: '' }
  }
}
