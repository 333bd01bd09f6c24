-- Accepted requests, appended as they came and answered 204 after the commit. Processed rows are deleted in the
-- transaction that holds their effects, so that each takes effect exactly once.
create table queue_entries (
  position bigint generated always as identity primary key,
  project_id bigint not null,
  kind text not null check (kind in ('events', 'users')),
  -- Who sent it with a user token: items without an id mean this person.
  user_id bigint,
  request_id text not null,
  received_at timestamptz(3) not null,
  -- How many items the body holds, so that a claim can be sized without reading bodies.
  items int not null,
  body bytea not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
alter table queue_entries alter column body set storage external;
create index queue_entries_by_project on queue_entries (project_id, position);

-- Items that could not be applied, with the reason; nothing that was accepted is lost.
create table parked_items (
  id bigint generated always as identity primary key,
  project_id bigint not null,
  kind text not null,
  request_id text not null,
  received_at timestamptz(3) not null,
  item jsonb not null,
  reason text not null,
  parked_at timestamptz(3) not null
);
create index parked_items_by_project on parked_items (project_id, id);

-- One partition a month, made ahead of time by the server; everything before the first of them goes to `events_past`.
create table events (
  project_id bigint not null,
  user_id bigint not null,
  name text not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  received_at timestamptz(3) not null
) partition by range (created_at);
create index events_by_user on events (user_id, created_at);

-- Caller-supplied event ids, remembered for 30 days (D-EVT-4).
create table event_ids (
  project_id bigint not null,
  event_id text not null,
  received_at timestamptz(3) not null,
  primary key (project_id, event_id)
);
create index event_ids_by_age on event_ids (received_at);
