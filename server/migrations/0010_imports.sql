-- Files of people on their way into static lists.
create table imports (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects,
  list_id bigint not null references lists,
  -- Nobody sees it while it is `receiving`: the upload may still come to nothing.
  state text not null default 'receiving' check (state in ('receiving', 'queued', 'running', 'finished', 'failed', 'cancelled')),
  reason text,
  delimiter text not null,
  -- In the order of the file: {header, field}; the field is null where a column is skipped.
  columns jsonb not null,
  dry_run boolean not null,
  update_existing boolean not null,
  consent_source text,
  subscription_ids bigint[] not null,
  -- How long the file is, and where in it the next batch begins.
  bytes bigint not null default 0,
  position bigint not null,
  line bigint not null,
  rows bigint not null default 0,
  created bigint not null default 0,
  updated bigint not null default 0,
  unchanged bigint not null default 0,
  skipped bigint not null default 0,
  failed bigint not null default 0,
  -- New members of the list.
  added bigint not null default 0,
  -- How often in a row the next batch could not be applied, for reasons that are not in the file.
  attempts smallint not null default 0,
  created_at timestamptz(3) not null,
  -- When the last piece of the file came.
  received_at timestamptz(3) not null,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  -- When the bytes were deleted, and when the rows that failed were.
  cleared_at timestamptz(3),
  purged_at timestamptz(3)
) with (fillfactor = 70);
create index imports_by_list on imports (project_id, list_id, id) where state <> 'receiving';
create index imports_unfinished on imports (project_id, id) where state in ('receiving', 'queued', 'running');
create index imports_receiving on imports (received_at) where state = 'receiving';
create index imports_to_clear on imports (id) where finished_at is not null and cleared_at is null;
create index imports_to_purge on imports (finished_at) where finished_at is not null and purged_at is null;

-- The file, decompressed, in pieces of one size but for the last.
create table import_chunks (
  project_id bigint not null,
  import_id bigint not null references imports on delete cascade,
  no int not null,
  bytes bytea not null,
  primary key (import_id, no)
);
alter table import_chunks alter column bytes set storage external;

-- Rows that were refused, with their cells as they were, to be corrected and sent again.
create table import_failures (
  project_id bigint not null,
  import_id bigint not null references imports on delete cascade,
  line bigint not null,
  code text not null,
  message text not null,
  cells text[] not null,
  primary key (import_id, line)
);

-- What a dry run has said about people so far. Each of its batches is undone, and the next one must know.
create table import_dry_run_rows (
  project_id bigint not null,
  import_id bigint not null references imports on delete cascade,
  -- `e` or `a` and the id.
  key text not null,
  profile jsonb not null,
  primary key (import_id, key)
);

-- Where a stored state comes from, when somebody said: the consent it rests on.
alter table user_subscriptions add column source text;
