create table lists (
  id bigint not null generated always as identity,
  project_id bigint not null references projects,
  name text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  archived_at timestamptz(3),
  type text not null check (type in ('static', 'dynamic')),
  tags text[] not null default '{}',
  -- The version that has the members of the list; null until the first one is built.
  live_version_id bigint,
  primary key (project_id, id)
);

-- A rule is never changed in place: a new rule is a new version, which replaces the old one when it is built.
create table list_versions (
  id bigint not null generated always as identity,
  project_id bigint not null,
  list_id bigint not null,
  -- Null for a static list.
  rule jsonb,
  -- The ids of the rule's trackers in `tracked_times`, in the order of the rule.
  tracker_ids bigint[] not null default '{}',
  -- filling: stored events are being scanned; building: users are being evaluated; retired: its rows are being deleted.
  status text not null check (status in ('filling', 'building', 'live', 'retired')),
  -- The position of the scan of stored events; null when events are read user by user.
  scan jsonb,
  -- During a build: users up to this id are evaluated, and live evaluation keeps them up to date.
  built_to bigint not null default 0,
  users_done bigint not null default 0,
  users_total bigint,
  created_at timestamptz(3) not null,
  live_at timestamptz(3),
  primary key (project_id, id),
  foreign key (project_id, list_id) references lists
);
create index list_versions_by_list on list_versions (project_id, list_id, id);
create index list_versions_in_use on list_versions (project_id, id) where status <> 'retired';
create index list_versions_retired on list_versions (id) where status = 'retired';
create index list_versions_unfinished on list_versions (project_id, id) where status in ('filling', 'building');
-- The two tables name each other.
alter table lists add foreign key (project_id, live_version_id) references list_versions;

create sequence list_tracker_ids;

-- The memberships of users in list versions, and when to evaluate them again because time has passed.
create table list_memberships (
  project_id bigint not null,
  version_id bigint not null,
  user_id bigint not null,
  is_member boolean not null,
  -- When `is_member` changed.
  changed_at timestamptz(3) not null,
  -- Not later than the next instant at which the membership can change because time passes.
  next_check_at timestamptz(3),
  primary key (project_id, user_id, version_id)
) with (fillfactor = 85);
create index list_memberships_members on list_memberships (version_id, user_id) where is_member;
create index list_memberships_others on list_memberships (version_id) where not is_member;
create index list_memberships_due on list_memberships (project_id, next_check_at) where next_check_at is not null;

-- The number of members of a version: the sum over the partitions. Each partition of a batch has its own row, so that partitions do not
-- wait for each other.
create table list_counts (
  project_id bigint not null,
  version_id bigint not null,
  partition smallint not null,
  members bigint not null,
  primary key (project_id, version_id, partition)
);

-- The times of a user's events that a tracker needs, in milliseconds, and no more of them.
create table tracked_times (
  project_id bigint not null,
  tracker_id bigint not null,
  user_id bigint not null,
  times bigint[] not null,
  -- Later events were not added, because these times were enough.
  is_stale boolean not null default false,
  primary key (project_id, tracker_id, user_id)
) with (fillfactor = 80);

-- The instant up to which lists are evaluated. A clock behind it was set back: what it caused is then evaluated again.
create table list_clocks (
  project_id bigint primary key,
  checked_to timestamptz(3) not null
);

-- The instant that a text names, by the rules of the API for times: ISO 8601, a date or a date and time to the minute or finer, in UTC
-- unless it has an offset, from 1970 to 2100, cut to milliseconds. Null for any other text, never an error.
-- It is called for many values at once: most values that are no time fail the first comparison, and parts are cut out by position.
create function instant_of(value text) returns timestamptz
language plpgsql immutable parallel safe strict as $$
declare
  -- With an offset, the first and the last hours may be written in the years around.
  shape constant text := '^(?:19(?:69|[7-9][0-9])|20[0-9]{2}|210[01])-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])'
    '(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?$';
  instant timestamptz;
begin
  if value not like '____-__-__%' or value !~ shape then
    return null;
  end if;
  -- A day that the month does not have falls into the next one.
  if substr(value, 9, 2) > '28'
    and extract(month from (left(value, 8) || '01')::date + (substr(value, 9, 2)::int - 1)) <> substr(value, 6, 2)::int then
    return null;
  end if;
  if length(value) > 20 and substr(right(value, 6), 1, 1) in ('+', '-') then
    instant := (left(left(value, -6), 23)::timestamp - right(value, 6)::interval) at time zone 'UTC';
  else
    instant := left(rtrim(value, 'Z'), 23)::timestamp at time zone 'UTC';
  end if;
  if instant < '1970-01-01T00:00Z'::timestamptz or instant >= '2101-01-01T00:00Z'::timestamptz then
    return null;
  end if;
  return instant;
end
$$;

-- CSV files of users that are loaded into static lists.
create table imports (
  id bigint not null generated always as identity,
  project_id bigint not null references projects,
  list_id bigint not null,
  -- An import is not visible while it is `receiving`: the upload may still fail.
  state text not null default 'receiving' check (state in ('receiving', 'queued', 'running', 'finished', 'failed', 'cancelled')),
  reason text,
  delimiter text not null,
  -- In the order of the file: {header, field}; the field is null where a column is skipped.
  columns jsonb not null,
  dry_run boolean not null,
  update_existing boolean not null,
  consent_source text,
  subscription_ids bigint[] not null,
  -- The length of the file, and where the next batch begins.
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
  -- How often in a row the next batch could not be applied for a reason outside the file.
  attempts smallint not null default 0,
  created_at timestamptz(3) not null,
  -- When the last chunk of the file was received.
  received_at timestamptz(3) not null,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  -- When the file was deleted, and when the failures were.
  cleared_at timestamptz(3),
  purged_at timestamptz(3),
  primary key (project_id, id),
  foreign key (project_id, list_id) references lists
) with (fillfactor = 70);
create index imports_by_list on imports (project_id, list_id, id) where state <> 'receiving';
create index imports_unfinished on imports (project_id, id) where state in ('receiving', 'queued', 'running');
create index imports_receiving on imports (received_at) where state = 'receiving';
create index imports_to_clear on imports (id) where finished_at is not null and cleared_at is null;
create index imports_to_purge on imports (finished_at) where finished_at is not null and purged_at is null;

-- The decompressed file, in chunks of one size except for the last.
create table import_chunks (
  project_id bigint not null,
  import_id bigint not null,
  no int not null,
  bytes bytea storage external not null,
  primary key (project_id, import_id, no),
  foreign key (project_id, import_id) references imports on delete cascade
);

-- Refused rows with their cells, so that they can be corrected and sent again.
create table import_failures (
  project_id bigint not null,
  import_id bigint not null,
  line bigint not null,
  code text not null,
  message text not null,
  cells text[] not null,
  primary key (project_id, import_id, line),
  foreign key (project_id, import_id) references imports on delete cascade
);

-- The profiles that the batches of a dry run have led to so far. Each batch is undone, and the next one needs them.
create table import_dry_run_rows (
  project_id bigint not null,
  import_id bigint not null,
  -- `e` or `a` and the id.
  key text not null,
  profile jsonb not null,
  primary key (project_id, import_id, key),
  foreign key (project_id, import_id) references imports on delete cascade
);
