/** Files of emails: their shape, their limits, and how a page shows images that are in the HTML. */
import { type Static, Type } from 'typebox'
import { type Fault, fault } from '../../lib/errors.ts'
import type { Attachment } from '../../lib/mime/compose.ts'
import { Exact, Line, Nullable, Timestamp } from '../../lib/shapes.ts'
import { lengthOf } from '../../lib/text.ts'

/** Of a template, and of a message by request. */
export const ATTACHMENTS_MAX = 10
/** Of all files of a template, or of a message by request, decoded. */
export const ATTACHMENT_BYTES_MAX = 10_485_760
/** Of a request with files: in base64, with the rest of the body. */
export const ATTACHMENT_BODY_BYTES_MAX = 15_728_640
const NAME_LENGTH_MAX = 255

const attachmentName = Line(NAME_LENGTH_MAX, { format: 'no-control', description: 'The name of the file.' })

const content = {
  content_type: Line(255, { format: 'no-control', description: 'The media type, such as `application/pdf`.' }),
  content: Type.String({ minLength: 1, maxLength: ATTACHMENT_BODY_BYTES_MAX, description: 'The content in base64.' }),
  content_id: Type.Optional(
    // No provider takes longer ones than SES.
    Line(78, { format: 'no-control', description: 'The file is shown wherever the HTML refers to `cid:` and this id.' }),
  ),
}

/** A file that comes with the request for a message. */
export const MessageAttachment = Exact({ name: attachmentName, ...content }, { title: 'MessageAttachment' })
type MessageAttachment = Static<typeof MessageAttachment>

/** A file to store with a template. Its name is in the path. */
export const TemplateAttachmentInput = Exact(content, { title: 'TemplateAttachmentInput' })
export type TemplateAttachmentInput = Static<typeof TemplateAttachmentInput>

const described = {
  name: Type.String({ description: 'The name of the file.' }),
  content_type: Type.String({ description: 'The media type.' }),
  content_id: Nullable(Type.String({ description: 'The id that the HTML uses to show the file; null for an attachment.' })),
  size_bytes: Type.Integer({ description: 'The size, decoded.' }),
}

/** A file of a template in replies. */
export const TemplateAttachment = Exact({ ...described, updated_at: Timestamp }, { title: 'TemplateAttachment' })
export type TemplateAttachment = Static<typeof TemplateAttachment>

/** A file of a template with its content. */
export const TemplateAttachmentWhole = Exact(
  { ...TemplateAttachment.properties, content: Type.String({ description: 'The content in base64.' }) },
  { title: 'TemplateAttachmentWhole' },
)
export type TemplateAttachmentWhole = Static<typeof TemplateAttachmentWhole>

/** A file of a preview. */
export const PreviewAttachment = Exact({
  ...described,
  content: Type.Optional(Type.String({ description: 'The content in base64. Only for files that the HTML shows.' })),
})
export type PreviewAttachment = Static<typeof PreviewAttachment>

/** The name of a file in the path. */
export const pathAttachment = {
  schema: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, description: 'The name of the file, percent-encoded.' }),
  read(text: string, name: string): string {
    const hasControl = [...text].some((character) => character < ' ' || character === '\x7F')
    if (text !== '' && lengthOf(text) <= NAME_LENGTH_MAX && !hasControl && text.isWellFormed()) return text
    const message = `The path parameter \`${name}\` must have 1 to ${NAME_LENGTH_MAX} characters, with no control characters.`
    throw fault('parameter_invalid_format', name, message)
  },
}

const MEDIA_TYPE = /^[A-Za-z0-9][A-Za-z0-9.+_-]{0,100}\/[A-Za-z0-9][A-Za-z0-9.+_-]{0,100}$/
const CONTENT_ID = /^[A-Za-z0-9._@-]{1,78}$/

/** The faults of a file that its schema does not find. `place` is the prefix of the names of its members in faults. */
export const attachmentFaults = (
  { content, content_type, content_id }: Pick<MessageAttachment, 'content' | 'content_type' | 'content_id'>,
  place = '',
): Fault[] => [
  ...(isBase64(content) ? [] : [format(`${place}content`, 'base64')]),
  ...(MEDIA_TYPE.test(content_type) ? [] : [format(`${place}content_type`, 'a media type, such as `application/pdf`')]),
  ...(content_id === undefined || CONTENT_ID.test(content_id)
    ? []
    : [format(`${place}content_id`, 'letters, digits, `.`, `_`, `@` and hyphens')]),
]

const isBase64 = (text: string) => Buffer.from(text, 'base64').toString('base64') === text

const format = (param: string, expected: string): Fault => ({
  code: 'parameter_invalid_format',
  param,
  message: `The value of \`${param}\` must be ${expected}.`,
})

/** The files of a message: those of its template whose content id no file of the request has, and those of the request. */
export function allAttachments(ofTemplate: readonly Attachment[], ofRequest: readonly Attachment[]): readonly Attachment[] {
  if (ofRequest.length === 0) return ofTemplate
  const replaced = new Set(ofRequest.flatMap(({ contentId }) => contentId ?? []))
  return [...ofTemplate.filter(({ contentId }) => contentId === undefined || !replaced.has(contentId)), ...ofRequest]
}

const REFERENCE = /cid:([A-Za-z0-9._@-]{1,78})/g

/** The HTML of an email for a browser, with images embedded where it refers to files. */
export function withInlineImages(html: string, attachments: readonly Attachment[]): string {
  const images = attachments.filter(({ contentType }) => contentType.startsWith('image/'))
  const urls = new Map(images.map((file) => [file.contentId, `data:${file.contentType};base64,${base64Of(file)}`]))
  return urls.size === 0 ? html : html.replace(REFERENCE, (reference, id: string) => urls.get(id) ?? reference)
}

const base64Of = ({ content }: Attachment) => Buffer.from(content).toString('base64')
