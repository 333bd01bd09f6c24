alter table lists
  add column type text not null default 'static' check (type in ('static', 'dynamic')),
  add column tags text[] not null default '{}',
  -- The version whose members are the list's; null until the first one is built.
  add column live_version_id bigint;
alter table lists alter column type drop default;

-- A rule is never changed in place: a new one is a new version, built aside, that takes the place of the old when it is ready.
create table list_versions (
  id bigint generated always as identity primary key,
  project_id bigint not null,
  list_id bigint not null references lists,
  -- Null for a static list.
  rule jsonb,
  -- Under which the times of the events that the rule counts are kept, in the order of its trackers.
  tracker_ids bigint[] not null default '{}',
  -- filling: past events are being read; building: people are being looked at; retired: its rows are being removed.
  status text not null check (status in ('filling', 'building', 'live', 'retired')),
  -- Where the reading of past events stands, when they are read in a row and not person by person.
  scan jsonb,
  -- While it is being built: people up to this id have been looked at, and are kept up to date since.
  built_to bigint not null default 0,
  people_done bigint not null default 0,
  people_total bigint,
  created_at timestamptz(3) not null,
  live_at timestamptz(3)
);
create index list_versions_by_list on list_versions (list_id, id);
create index list_versions_in_use on list_versions (project_id, id) where status <> 'retired';
create index list_versions_at_work on list_versions (id) where status <> 'live';
alter table lists add constraint lists_live_version_id_fkey foreign key (live_version_id) references list_versions;
create sequence list_tracker_ids;

-- Lists that stood here before there were versions are static ones.
insert into list_versions (project_id, list_id, status, created_at, live_at)
select project_id, id, 'live', created_at, created_at from lists;
update lists l set live_version_id = v.id from list_versions v where v.list_id = l.id;

-- Where people stand with versions of lists: who is in, and who is to be looked at again when time has passed.
create table list_memberships (
  project_id bigint not null,
  version_id bigint not null,
  user_id bigint not null,
  is_member boolean not null,
  -- When that became so.
  since timestamptz(3) not null,
  -- Not later than the next instant at which it may become otherwise by time alone.
  next_check_at timestamptz(3),
  primary key (user_id, version_id)
) with (fillfactor = 85);
create index list_memberships_members on list_memberships (version_id, user_id) where is_member;
create index list_memberships_others on list_memberships (version_id) where not is_member;
create index list_memberships_due on list_memberships (project_id, next_check_at) where next_check_at is not null;

-- How many members a version has. Each partition of processing has a row of its own, so that none waits for another; the sum counts.
create table list_counts (
  project_id bigint not null,
  version_id bigint not null,
  partition smallint not null,
  members bigint not null,
  primary key (version_id, partition)
);

-- The times of a person's events that matter to a condition of a version, in milliseconds, and no more than matter.
create table tracked_times (
  project_id bigint not null,
  tracker_id bigint not null,
  user_id bigint not null,
  times bigint[] not null,
  -- There were later events, which nobody needed to know of while these were enough.
  is_stale boolean not null default false,
  primary key (tracker_id, user_id)
) with (fillfactor = 80);

-- Up to when lists have been kept. A clock that is behind that has been set back, and what it made happen is looked at again.
create table list_clocks (
  project_id bigint primary key,
  checked_to timestamptz(3) not null
);

-- `changes` are those that other requests than the log's own have made, and facts that the system itself knows.
alter table queue_entries drop constraint queue_entries_kind_check;
alter table queue_entries add constraint queue_entries_kind_check check (kind in ('events', 'users', 'changes'));

-- A large batch of the log is applied by several partitions at once, each in a transaction of its own. Which item belongs to which partition
-- is written down first, so that whoever goes on after a crash knows what is done.
create table queue_batches (
  project_id bigint primary key,
  id bigint not null generated always as identity unique,
  positions bigint[] not null,
  -- One byte for each item, in order: its partition.
  partitions bytea not null,
  created_at timestamptz(3) not null
);
create table queue_partitions (
  project_id bigint not null,
  window_id bigint not null references queue_batches (id) on delete cascade,
  partition smallint not null,
  primary key (window_id, partition)
);

-- Moves whenever ids come to mean somebody else, or nobody. What a process remembers of ids holds until then.
create table identity_epochs (
  project_id bigint primary key,
  epoch bigint not null
);
