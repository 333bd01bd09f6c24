import { type Static, Type } from 'typebox'
import { Nullable } from '../shapes.ts'
import type { Attachment } from './compose.ts'

/** An attachment as rows have it, its content in base64. */
export const StoredAttachment = Type.Object({
  name: Type.String(),
  content_type: Type.String(),
  content_id: Nullable(Type.String()),
  content: Type.String(),
})

/** An attachment as an email has it. */
export const attachmentFrom = ({ name, content_type, content_id, content }: Static<typeof StoredAttachment>): Attachment => ({
  name,
  contentType: content_type,
  content: Buffer.from(content, 'base64'),
  ...(content_id !== null && { contentId: content_id }),
})
