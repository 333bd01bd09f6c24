-- The ingest queue: accepted requests, appended as they came and answered 204 after the commit. The transaction that applies a request
-- also deletes its row, so that each request takes effect exactly once.
create table queue_entries (
  position bigint not null generated always as identity,
  project_id bigint not null,
  -- `changes` are changes of users that other requests made, and events that the system writes.
  kind text not null check (kind in ('events', 'users', 'changes')),
  -- The user of the user token that the request was sent with: items without an id are about this user.
  user_id bigint,
  request_id text not null,
  received_at timestamptz(3) not null,
  -- The number of items in the body, so that a batch can be sized without reading bodies.
  items int not null,
  body bytea storage external not null,
  primary key (project_id, position)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
-- The backlog of all projects is measured by position.
create index queue_entries_by_position on queue_entries (position);

-- A large batch is divided into partitions that are applied in parallel, each in its own transaction. The division is stored first:
-- after a crash, the partitions that were applied are not applied again.
create table queue_batches (
  project_id bigint primary key,
  id bigint not null generated always as identity,
  positions bigint[] not null,
  -- One byte for each item, in order: its partition.
  partitions bytea not null,
  created_at timestamptz(3) not null,
  unique (project_id, id)
);

-- The partitions of a batch that were applied.
create table queue_partitions (
  project_id bigint not null,
  batch_id bigint not null,
  partition smallint not null,
  primary key (project_id, batch_id, partition),
  foreign key (project_id, batch_id) references queue_batches (project_id, id) on delete cascade
);

-- Items that could not be applied, with the reason, until they are replayed.
create table parked_items (
  id bigint not null generated always as identity,
  project_id bigint not null,
  kind text not null,
  request_id text not null,
  received_at timestamptz(3) not null,
  item jsonb not null,
  reason text not null,
  parked_at timestamptz(3) not null,
  primary key (project_id, id)
);
