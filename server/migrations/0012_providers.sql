-- Who carries the messages of a project. Rows are archived, never deleted: messages refer to them.
create table providers (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects,
  name text not null,
  kind text not null,
  channel text not null,
  -- What may be read again; the rest is one sealed JSON object.
  settings jsonb not null,
  sealed text,
  secret_names text[] not null default '{}',
  is_default boolean not null,
  rate_limit int,
  rate_interval_seconds int,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  archived_at timestamptz(3),
  check ((rate_limit is null) = (rate_interval_seconds is null))
);
create index providers_by_project on providers (project_id, id) where archived_at is null;
create unique index providers_default on providers (project_id, channel) where is_default and archived_at is null;
