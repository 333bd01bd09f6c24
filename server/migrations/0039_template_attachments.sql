-- Files of email templates. With a content id, the HTML shows the file where `cid:` names it.
create table template_attachments (
  id bigint not null generated always as identity,
  project_id bigint not null,
  template_id bigint not null,
  name text not null,
  content_type text not null,
  content_id text,
  content bytea not null,
  updated_at timestamptz(3) not null,
  primary key (project_id, id),
  unique (project_id, template_id, name),
  foreign key (project_id, template_id) references campaign_templates on delete cascade
);
-- Images and PDFs are compressed already.
alter table template_attachments alter column content set storage external;
alter table template_attachments alter column project_id set (n_distinct = 10);

-- How large the files of a template are together, so that sending reads them only where there are some.
alter table campaign_templates add column attachment_bytes integer not null default 0;

-- How large the files of a message by request are together, so that as many are sent at a time as memory allows.
alter table message_requests add column attachment_bytes integer not null default 0;
update message_requests r
set attachment_bytes = (select coalesce(sum(octet_length(a.content)), 0) from message_attachments a
                        where a.project_id = r.project_id and a.message_id = r.message_id)
where r.attachments > 0;

-- The template of an email in the sandbox, if it has files: the source of the email shows them.
alter table sandbox_messages add column template_id bigint;
