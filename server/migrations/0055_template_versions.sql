-- What a template contained after each change, with who made it. The newest one has the present content.
create table template_versions (
  project_id bigint not null,
  template_id bigint not null,
  number integer not null,
  data jsonb not null,
  actor_type text,
  actor_id bigint,
  actor_name text,
  -- When the first of the saves that make it began, and when the last one was.
  begun_at timestamptz(3) not null,
  saved_at timestamptz(3) not null,
  primary key (project_id, template_id, number),
  foreign key (project_id, template_id) references campaign_templates (project_id, id) on delete cascade
);
alter table template_versions alter column project_id set (n_distinct = 10);

insert into template_versions (project_id, template_id, number, data, begun_at, saved_at)
select project_id, id, 1, data, updated_at, updated_at from campaign_templates;
