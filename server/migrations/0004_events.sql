-- Orders events of one instant.
create sequence event_seq;

-- One partition a month, created ahead of time by the server; all events before the first month are in `events_past`.
create table events (
  project_id bigint not null,
  user_id bigint not null,
  name text not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  received_at timestamptz(3) not null,
  seq bigint not null default nextval('event_seq'),
  primary key (project_id, user_id, created_at, seq)
) partition by range (created_at);
alter sequence event_seq owned by events.seq;

-- Event ids of callers, kept for 30 days (D-EVT-4).
create table event_ids (
  project_id bigint not null,
  event_id text not null,
  received_at timestamptz(3) not null,
  primary key (project_id, event_id)
);
create index event_ids_by_age on event_ids (received_at);

-- The number of events of a name on a day (UTC): the sum over the partitions. Each partition of a batch has its own rows, so that
-- partitions do not wait for each other.
create table event_days (
  project_id bigint not null,
  name text not null,
  day date not null,
  partition smallint not null,
  events bigint not null,
  primary key (project_id, name, day, partition)
) with (fillfactor = 70);
create index event_days_by_day on event_days (project_id, day);
create index event_days_by_age on event_days (day);

-- The number of events of a name on all days, and the users and times of the latest ones, by which these are found in `events`.
create table event_names (
  -- The least id of a name stands for it in cursors.
  id bigint not null generated always as identity,
  project_id bigint not null,
  name text not null,
  partition smallint not null,
  events bigint not null,
  first_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  -- Two arrays of the same length, latest first.
  recent_users bigint[] not null,
  recent_times timestamptz(3)[] not null,
  primary key (project_id, name, partition)
) with (fillfactor = 50);

-- Retention: the removal of all events before an instant, which may take several runs.
create table event_removals (
  before timestamptz(3) primary key,
  removed bigint not null default 0,
  -- The next page of `events_past` to be searched.
  past_to bigint not null default 0,
  -- When all of them were deleted.
  completed_at timestamptz(3),
  -- When lists were rebuilt from the remaining events.
  followed_at timestamptz(3)
);
