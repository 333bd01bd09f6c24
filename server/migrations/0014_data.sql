-- The first accepted rows of a dry run, as they would be stored.
alter table imports add column first_rows jsonb;

-- What an import changed about users, until it can no longer be undone.
create table import_changes (
  project_id bigint not null,
  import_id bigint not null,
  -- Where the batch begins in the file, and the number of the change in the batch.
  position bigint not null,
  no int not null,
  user_id bigint not null,
  is_new boolean not null,
  -- The values that changed: fields, and keys of `data` under `data`; null for none.
  before jsonb not null,
  after jsonb not null,
  -- The user became a member of the list, and got these subscriptions.
  joined boolean not null,
  subscription_ids bigint[] not null,
  at timestamptz(3) not null,
  primary key (project_id, import_id, position, no),
  foreign key (project_id, import_id) references imports on delete cascade
);
create index import_changes_by_user on import_changes (project_id, user_id);

alter table imports
  drop constraint imports_state_check,
  add constraint imports_state_check
    check (state in ('receiving', 'queued', 'running', 'finished', 'failed', 'cancelled', 'undoing', 'undone')),
  -- Users that were removed, and users whose values were restored.
  add column removed bigint not null default 0,
  add column restored bigint not null default 0,
  add column undone_at timestamptz(3),
  -- When the changes were deleted.
  add column changes_deleted_at timestamptz(3);
create index imports_undoing on imports (project_id, id) where state = 'undoing';
create index imports_with_changes on imports (finished_at) where finished_at is not null and changes_deleted_at is null and state <> 'undoing';

-- The instant that a text names, by the rules of the API for dates in data: ISO 8601, a date or a date and time to the minute or finer, in
-- UTC unless it has an offset, in the years 1 to 9999, cut to milliseconds. Null for any other text, never an error.
-- It is called for many values at once: most values that are no time fail the first comparison, and parts are cut out by position.
create or replace function instant_of(value text) returns timestamptz
language plpgsql immutable parallel safe strict as $$
declare
  shape constant text := '^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])'
    '(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?$';
  instant timestamptz;
begin
  if value not like '____-__-__%' or value !~ shape or value like '0000%' then
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
  if instant < '0001-01-01T00:00Z'::timestamptz or instant >= '10000-01-01T00:00Z'::timestamptz then
    return null;
  end if;
  return instant;
end
$$;

-- The instant of a value that a rule declares a date: as above, or a Unix timestamp in seconds or milliseconds, as a number or as text of
-- 9, 10, 12 or 13 digits. Null for any other value, never an error.
create function declared_instant_of(value jsonb) returns timestamptz
language plpgsql immutable parallel safe strict as $$
declare
  stamp numeric;
  ms numeric;
begin
  if jsonb_typeof(value) = 'number' then
    stamp := value::numeric;
  elsif jsonb_typeof(value) = 'string' and value #>> '{}' ~ '^(?:[0-9]{9,10}|[0-9]{12,13})$' then
    stamp := (value #>> '{}')::numeric;
  else
    return instant_of(value #>> '{}');
  end if;
  ms := trunc(case when abs(stamp) >= 100000000000 then stamp else stamp * 1000 end);
  if ms < -62135596800000 or ms > 253402300799999 then
    return null;
  end if;
  -- Days and the rest of the day, because an interval of so many milliseconds is not exact.
  return ('epoch'::timestamp + div(ms, 86400000)::int * interval '1 day' + mod(ms, 86400000)::int * interval '1 millisecond') at time zone 'UTC';
end
$$;
