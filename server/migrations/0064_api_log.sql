-- The API log: the last requests of each project, redacted, a bounded number of them.
create table api_requests (
  project_id bigint not null,
  id bigint not null generated always as identity,
  request_id text not null,
  method text not null,
  -- The path as the API reference has it; ids of it are in params.
  route text not null,
  params jsonb not null,
  query jsonb not null,
  body jsonb,
  status smallint not null,
  code text,
  param text,
  elapsed_ms integer not null,
  actor_type text not null check (actor_type in ('key', 'member', 'system')),
  actor_id bigint,
  actor_name text,
  via text not null check (via in ('api', 'console', 'cli', 'system')),
  -- The request whose reply was replayed.
  original_request text,
  -- Requests before this one that the process did not keep.
  left_out integer not null,
  created_at timestamptz(3) not null,
  primary key (project_id, id)
);
alter table api_requests alter column project_id set (n_distinct = 10);
