import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../lib/ids.ts'
import type { Attachment } from '../../lib/mime/compose.ts'
import { attachmentFrom, StoredAttachment } from '../../lib/mime/stored-attachment.ts'
import { Instant, Nullable } from '../../lib/shapes.ts'
import { idAt, type TemplatePlace } from './queries.ts'

const AttachmentRow = Type.Object({
  name: Type.String(),
  content_type: Type.String(),
  content_id: Nullable(Type.String()),
  size_bytes: Type.Integer(),
  updated_at: Instant,
})

const columns = sql`a.name, a.content_type, a.content_id, octet_length(a.content) as size_bytes, a.updated_at`

const TemplateIdRow = Type.Object({ id: Type.Integer() })

/** The id of the template at this place. */
export const findTemplateId = async (ctx: ProjectCtx, place: TemplatePlace): Promise<number | undefined> =>
  (await ctx.db.first(TemplateIdRow, idAt(ctx, place)))?.id

/** The files of a template without their content, oldest first. */
export const listAttachments = (ctx: ProjectCtx, templateId: number) =>
  ctx.db.many(
    AttachmentRow,
    sql`select ${columns} from template_attachments a where a.project_id = ${ctx.projectId} and a.template_id = ${templateId} order by a.id`,
  )

/** The total size of the files of a template, decoded: the smallest among the templates of the campaign. */
export const smallestFiles = (ctx: ProjectCtx, campaignId: CampaignId): Promise<number> =>
  ctx.db.value(
    Type.Integer(),
    sql`select coalesce(min(files.bytes), 0) as bytes
        from (select coalesce(sum(octet_length(a.content)), 0) as bytes
              from campaign_templates t
              left join template_attachments a on a.project_id = t.project_id and a.template_id = t.id
              where t.project_id = ${ctx.projectId} and t.campaign_id = ${campaignId}
              group by t.id) files`,
  )

const WholeRow = Type.Object({ ...AttachmentRow.properties, content: Type.String() })

/** A file of a template, in base64. */
export const findAttachment = (ctx: ProjectCtx, templateId: number, name: string) =>
  ctx.db.first(
    WholeRow,
    sql`select ${columns}, translate(encode(a.content, 'base64'), E'\n', '') as content from template_attachments a
        where a.project_id = ${ctx.projectId} and a.template_id = ${templateId} and a.name = ${name}`,
  )

type Stored = { name: string; content_type: string; content: string; content_id: string | null }

/** Creates or replaces a file of a template. */
export const saveAttachment = (ctx: InTx, templateId: number, { name, content_type, content, content_id }: Stored) =>
  ctx.db.one(
    AttachmentRow,
    sql`insert into template_attachments as a (project_id, template_id, name, content_type, content_id, content, updated_at)
        values (${ctx.projectId}, ${templateId}, ${name}, ${content_type}, ${content_id}, decode(${content}, 'base64'), ${ctx.clock.now()})
        on conflict (project_id, template_id, name) do update
        set content_type = excluded.content_type, content_id = excluded.content_id, content = excluded.content, updated_at = excluded.updated_at
        returning ${columns}`,
  )

/** Deletes a file of a template. Returns how many were deleted. */
export const deleteAttachment = (ctx: InTx, templateId: number, name: string) =>
  ctx.db.run(sql`delete from template_attachments where project_id = ${ctx.projectId} and template_id = ${templateId} and name = ${name}`)

/** Stores how large the files of a template are. This makes a new version of the template, so that senders read its files again. */
export const touchTemplate = (ctx: InTx, templateId: number) =>
  ctx.db.run(
    sql`update campaign_templates t
        set attachment_bytes = (select coalesce(sum(octet_length(a.content)), 0) from template_attachments a
                                where a.project_id = t.project_id and a.template_id = t.id),
            updated_at = greatest(${ctx.clock.now()}, t.updated_at + interval '1 millisecond')
        where t.project_id = ${ctx.projectId} and t.id = ${templateId}`,
  )

/** Copies the files of all templates of a campaign, whose templates have been copied. */
export const copyAttachments = (ctx: InTx, from: CampaignId, into: CampaignId) =>
  ctx.db.run(
    sql`insert into template_attachments (project_id, template_id, name, content_type, content_id, content, updated_at)
        select a.project_id, n.id, a.name, a.content_type, a.content_id, a.content, ${ctx.clock.now()}
        from campaign_templates t
        join template_attachments a on a.project_id = t.project_id and a.template_id = t.id
        join campaign_templates n on n.project_id = t.project_id and n.campaign_id = ${into} and n.locale = t.locale and n.variant = t.variant
        where t.project_id = ${ctx.projectId} and t.campaign_id = ${from}
        order by a.id`,
  )

/** The files of a template with their content, oldest first, as an email has them. */
export const attachmentsOfTemplate = async (ctx: ProjectCtx, templateId: number): Promise<Attachment[]> => {
  const rows = await ctx.db.many(
    StoredAttachment,
    sql`select name, content_type, content_id, encode(content, 'base64') as content from template_attachments
        where project_id = ${ctx.projectId} and template_id = ${templateId}
        order by id`,
  )
  return rows.map(attachmentFrom)
}
