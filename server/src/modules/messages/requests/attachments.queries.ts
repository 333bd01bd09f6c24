import { sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId, UserId } from '../../../lib/ids.ts'
import type { Attachment } from '../../../lib/mime/compose.ts'
import { attachmentFrom, StoredAttachment } from '../../../lib/mime/stored-attachment.ts'

/** A file of a message, in base64. */
export type NewAttachment = {
  message_id: MessageId
  position: number
  name: string
  content_type: string
  content_id: string | null
  content: string
}

/** Stores attachments until their messages are in a final state. As arrays rather than JSON: they are large. */
export const insertAttachments = (ctx: InTx, attachments: NewAttachment[]) =>
  ctx.db.run(
    sql`insert into message_attachments (project_id, message_id, position, name, content_type, content_id, content)
        select ${ctx.projectId}, a.message_id, a.position, a.name, a.content_type, a.content_id, decode(a.content, 'base64')
        from unnest(${attachments.map(({ message_id }) => message_id)}::bigint[], ${attachments.map(({ position }) => position)}::smallint[],
                    ${attachments.map(({ name }) => name)}::text[], ${attachments.map(({ content_type }) => content_type)}::text[],
                    ${attachments.map(({ content_id }) => content_id)}::text[], ${attachments.map(({ content }) => content)}::text[])
             as a(message_id, position, name, content_type, content_id, content)`,
  )

/** The attachments of a message, in order. */
export const attachmentsOf = async (ctx: ProjectCtx, id: MessageId): Promise<Attachment[]> => {
  const rows = await ctx.db.many(
    StoredAttachment,
    sql`select name, content_type, content_id, encode(content, 'base64') as content from message_attachments
        where project_id = ${ctx.projectId} and message_id = ${id}
        order by position`,
  )
  return rows.map(attachmentFrom)
}

/** Deletes the attachments of the messages of erased users. */
export const eraseAttachments = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.run(
    sql`delete from message_attachments a using messages m
        where m.project_id = ${ctx.projectId} and m.user_id = any(${userIds}::bigint[]) and m.is_requested
          and a.project_id = m.project_id and a.message_id = m.id`,
  )
