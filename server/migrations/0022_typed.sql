-- What proves the consent of an import, and the number of rows, for its progress. Null for imports of earlier releases.
alter table imports
  add filename text,
  add file_sha256 text,
  add rows_total bigint,
  add key_id bigint;

-- The addresses that test messages of editors may reach.
alter table projects add test_recipients text[] not null default '{}';

-- The receipts of erasures: what was removed, in numbers, and nothing about the user.
create table erasures (
  id bigint not null generated always as identity,
  project_id bigint not null references projects,
  -- Of the erased user. The row of the user is gone when the erasure has finished.
  user_id bigint not null,
  state text not null default 'requested' check (state in ('requested', 'finished')),
  -- How many rows were removed, by store.
  removed jsonb not null default '{}',
  requested_at timestamptz(3) not null,
  finished_at timestamptz(3),
  primary key (project_id, id)
);
create index erasures_requested on erasures (project_id, user_id) where state = 'requested';
