/** Reads an email that an application submitted, for the sandbox. */
import PostalMime from 'postal-mime'

/** The content of an email, as the sandbox shows it. */
export type SubmittedContent = { subject: string; html: string; text: string }

const NESTING_MAX = 20

/** The content of an email. One that cannot be read is empty. */
export async function readContent(content: Uint8Array): Promise<SubmittedContent> {
  try {
    const { subject = '', html = '', text = '' } = await PostalMime.parse(content, { maxNestingDepth: NESTING_MAX })
    return { subject, html, text }
  } catch {
    return { subject: '', html: '', text: '' }
  }
}
