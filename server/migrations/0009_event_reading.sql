-- Orders events of one instant. Every partition is written anew once, under a lock.
create sequence event_seq;
alter table events add column seq bigint not null default nextval('event_seq');
alter sequence event_seq owned by events.seq;

-- How many events of a name fell on a day (UTC). Each partition of processing has rows of its own, so that none waits for another; the sum counts.
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

-- The same for all days together, and where the latest events to arrive are found by `events_by_user`.
create table event_names (
  -- The least one of a name stands for it in cursors.
  id bigint generated always as identity,
  project_id bigint not null,
  name text not null,
  partition smallint not null,
  events bigint not null,
  first_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  -- Latest first; the two run side by side.
  recent_users bigint[] not null,
  recent_times timestamptz(3)[] not null,
  primary key (project_id, name, partition)
) with (fillfactor = 50);

insert into event_days (project_id, name, day, partition, events)
select project_id, name, (created_at at time zone 'UTC')::date, 0, count(*) from events group by 1, 2, 3;

insert into event_names (project_id, name, partition, events, first_at, last_at, recent_users, recent_times)
select project_id, name, 0, max(events), max(first_at), max(last_at),
       array_agg(user_id order by place), array_agg(created_at order by place)
from (select project_id, name, user_id, created_at,
             row_number() over (partition by project_id, name order by received_at desc, seq desc) as place,
             count(*) over (partition by project_id, name) as events,
             min(created_at) over (partition by project_id, name) as first_at,
             max(created_at) over (partition by project_id, name) as last_at
      from events) e
where place <= 50
group by project_id, name;

-- What was removed because its time was over: events from before an instant, at once or in several runs.
create table event_removals (
  before timestamptz(3) primary key,
  removed bigint not null default 0,
  -- Up to which page `events_past` has been looked through.
  past_to bigint not null default 0,
  -- All of it is removed.
  completed_at timestamptz(3),
  -- Lists have been rebuilt from the events that are left.
  followed_at timestamptz(3)
);

-- What attributes people have. Small projects are looked at when somebody asks; in large ones a job looks person by person.
create table attribute_profiling (
  project_id bigint primary key,
  -- Nobody asks, nobody looks.
  asked_at timestamptz(3) not null,
  -- When there is something to do.
  due_at timestamptz(3),
  -- The latest that is complete, and of how many people it speaks, as they were then.
  survey bigint not null default 0,
  people bigint not null default 0,
  as_of timestamptz(3),
  -- The next one while it is made: since when, up to which person, and how many there were.
  started_at timestamptz(3),
  looked_to bigint not null default 0,
  people_so_far bigint not null default 0
);
create index attribute_profiling_due on attribute_profiling (due_at) where due_at is not null;

create table attribute_profiles (
  project_id bigint not null,
  survey bigint not null,
  key text not null,
  types text[] not null,
  people bigint not null,
  last_seen timestamptz(3) not null,
  -- Some who have it: samples are read from them, so that none outlives its person.
  sample_users bigint[] not null,
  primary key (project_id, survey, key)
);
