/** Files of an email: how they are read, and the ids by which its HTML shows them. */

export const ATTACHMENTS = '/api/client/campaigns/{campaignId}/templates/{locale}/attachments'
export const ATTACHMENT = '/api/client/campaigns/{campaignId}/templates/{locale}/attachments/{name}'

/** The server takes 10 MB for all files of a template. */
export const FILE_BYTES_MAX = 10_000_000

const ID_MAX = 78
const CHUNK = 32_768

/** The content of a file in base64. */
export async function base64Of(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(binary)
}

type Named = { name: string; content_id: string | null }

/**
 * An id that the HTML can name, made from the name of the file; null for a file that is only attached. The id of a file that is replaced
 * stays: the HTML may show it.
 */
export function contentIdOf(name: string, existing: Named[], isInline: boolean): string | null {
  const replaced = existing.find((file) => file.name === name)?.content_id
  if (replaced) return replaced
  if (!isInline) return null
  const plain = name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, ID_MAX - 4)
  const taken = new Set(existing.map(({ content_id }) => content_id))
  let id = plain
  for (let number = 2; taken.has(id); number++) id = `${plain}-${number}`
  return id
}

const REFERENCE = /cid:([A-Za-z0-9._@-]{1,78})/g

/** HTML in which the images of an email are within the text, so that a preview can show them. */
export const withImages = (html: string, images: ReadonlyMap<string, string>): string =>
  images.size === 0 ? html : html.replaceAll(REFERENCE, (reference, id: string) => images.get(id) ?? reference)
