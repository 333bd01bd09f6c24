-- The audit log: an entry for each write of configuration, written in its transaction. An entry of an organisation has no project.
create table audit_entries (
  id bigint generated always as identity primary key,
  organization_id bigint not null,
  project_id bigint,
  -- The place in the chain of the project, or of the organisation.
  position bigint not null,
  action text not null,
  object_type text not null,
  object_id text,
  object_name text,
  actor_type text not null check (actor_type in ('key', 'member', 'system')),
  actor_id bigint,
  actor_name text,
  via text not null check (via in ('api', 'console', 'cli', 'system')),
  request_id text,
  -- The members that changed, without secrets. Json, not jsonb: the hash is of the text.
  before json,
  after json,
  details json,
  previous_hash text not null,
  hash text not null,
  created_at timestamptz(3) not null
);
create index audit_entries_by_time on audit_entries (project_id, created_at, id);
create index audit_entries_by_object on audit_entries (project_id, object_type, object_id, created_at, id);
create index audit_entries_by_actor on audit_entries (project_id, actor_type, actor_id, created_at, id);
create index audit_entries_by_action on audit_entries (project_id, action, created_at, id);
create index audit_entries_of_organisation on audit_entries (organization_id, created_at, id);
create index audit_entries_by_position on audit_entries (project_id, organization_id, position);
create index audit_entries_by_age on audit_entries (created_at);
alter table audit_entries alter column project_id set (n_distinct = 10);

-- The last entry of each chain. Its row is locked from an entry to the commit, so that entries are in the order of their commits.
create table audit_chains (
  organization_id bigint not null,
  -- 0 for the chain of the organisation.
  project_id bigint not null,
  position bigint not null,
  hash text not null,
  primary key (project_id, organization_id)
);
alter table audit_chains alter column project_id set (n_distinct = 10);
