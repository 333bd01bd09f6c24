-- Journeys: users enter a published graph, move from step to step, and leave.

alter table journeys
  -- The version that users enter; null before the first publication.
  add column live_version int,
  -- Users who are still inside then leave, after the journey was switched off.
  add column drain_until timestamptz(3),
  -- Users wait at steps that do something outside, and no timer of the journey is claimed.
  add column is_held boolean not null default false,
  -- When an entrance was counted last.
  add column stats_at timestamptz(3);

create index journeys_held on journeys (project_id, id) where is_held;

-- The graphs of a journey: a draft that is edited, and published ones, which never change.
create table journey_versions (
  project_id bigint not null,
  journey_id bigint not null,
  version int not null,
  status text not null check (status in ('draft', 'live', 'past')),
  -- An array of steps without ids: external_id, type, name, x, y, data, children.
  steps jsonb not null,
  settings jsonb not null default '{}',
  -- What becomes of the users who are in earlier versions, and how far that is.
  plan jsonb,
  note text,
  created_at timestamptz(3) not null,
  published_at timestamptz(3),
  published_by text,
  primary key (project_id, journey_id, version),
  foreign key (project_id, journey_id) references journeys on delete cascade
);
create unique index journey_versions_draft on journey_versions (project_id, journey_id) where status = 'draft';
create unique index journey_versions_live on journey_versions (project_id, journey_id) where status = 'live';

insert into journey_versions (project_id, journey_id, version, status, steps, created_at)
select s.project_id, s.journey_id, 1, 'draft',
       jsonb_agg(jsonb_build_object('external_id', s.external_id, 'type', s.type, 'name', s.name, 'x', s.x, 'y', s.y, 'data', s.data,
                                    'children', s.children) order by s.id),
       j.updated_at
from journey_steps s
join journeys j on j.project_id = s.project_id and j.id = s.journey_id
group by s.project_id, s.journey_id, j.updated_at;

-- From now on only the register of ids: a key keeps its id for ever, also when no version has the step any more.
alter table journey_steps
  drop constraint journey_steps_pkey,
  drop column type,
  drop column name,
  drop column x,
  drop column y,
  drop column data,
  drop column children,
  add primary key (project_id, journey_id, id);

-- The users inside: one row for each entrance. No column of an index changes when a user moves.
create table journey_entrances (
  project_id bigint not null,
  user_id bigint not null,
  -- The first 52 bits of a hash of the journey, the cause and the user.
  entrance_id bigint not null,
  journey_id bigint not null,
  step_id bigint not null,
  version int not null,
  visit int not null,
  depth smallint not null,
  -- How often the decision failed that is retried.
  attempts smallint not null default 0,
  -- The journey was held when the user came to a step that does something outside.
  is_held boolean not null default false,
  entered_at timestamptz(3) not null,
  arrived_at timestamptz(3) not null,
  -- The instant of the last item; those of a user never decrease.
  acted_at timestamptz(3) not null,
  -- That of the timer; null for a parked user who is not retried any more.
  due_at timestamptz(3),
  -- Unique among the entrances of the user: the key or '', or the cause.
  slot text not null,
  -- The entry key, null for none.
  key text,
  cause text not null,
  -- What the user waits for: `event:purchase`, `list:12`.
  waits text[] not null default '{}',
  -- Why the decision could not be made.
  parked text,
  event jsonb,
  answers jsonb not null default '{}',
  seen jsonb not null default '{}',
  trail jsonb not null default '[]',
  primary key (project_id, user_id, entrance_id),
  unique (project_id, journey_id, user_id, slot)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- When users are decided about again: one row for each entrance that waits.
create table journey_timers (
  project_id bigint not null,
  journey_id bigint not null,
  due_at timestamptz(3) not null,
  user_id bigint not null,
  entrance_id bigint not null,
  visit int not null,
  primary key (project_id, journey_id, due_at, user_id, entrance_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- What is known of a user and a journey for ever.
create table journey_users (
  project_id bigint not null,
  user_id bigint not null,
  journey_id bigint not null,
  entered int not null default 0,
  completed int not null default 0,
  exited int not null default 0,
  active int not null default 0,
  first_entered_at timestamptz(3),
  last_entered_at timestamptz(3),
  last_ended_at timestamptz(3),
  held_out_at timestamptz(3),
  -- The goals of the user count until then.
  goal_until timestamptz(3),
  last_outcome text,
  -- The path of the last experiment.
  arm text,
  -- When the user reached a goal, by its name.
  goals jsonb not null default '{}',
  primary key (project_id, user_id, journey_id)
) with (fillfactor = 80);
create index journey_users_by_journey on journey_users (project_id, journey_id, user_id);

-- Entrances that ended. The server creates partitions by month ahead of time and drops old ones; `journey_past_rest` has
-- what belongs to no month that exists.
create table journey_past (
  project_id bigint not null,
  user_id bigint not null,
  entrance_id bigint not null,
  journey_id bigint not null,
  step_id bigint not null,
  version int not null,
  visit int not null,
  depth smallint not null,
  entered_at timestamptz(3) not null,
  arrived_at timestamptz(3) not null,
  ended_at timestamptz(3) not null,
  outcome text not null check (outcome in ('completed', 'exited')),
  reason text not null,
  key text,
  cause text not null,
  event jsonb,
  answers jsonb not null,
  trail jsonb not null,
  primary key (project_id, user_id, entrance_id, ended_at)
) partition by range (ended_at);
create table journey_past_rest partition of journey_past default;

-- The entry keys that a user entered with, for journeys that a key enters once.
create table journey_keys (
  project_id bigint not null,
  user_id bigint not null,
  journey_id bigint not null,
  key_hash bigint not null,
  primary key (project_id, user_id, journey_id, key_hash)
);

-- Differences of counts, to be summed. `what` is one of:
--   entered (version, step: the entrance), completed, exited (version, step, reason), arrived (version, step), left (version, step, path,
--   reason), held_out, refused (reason), goal (path: its name, arm), arm (version, step, arm), stale (step).
create table journey_counts (
  id bigint not null generated always as identity,
  project_id bigint not null,
  journey_id bigint not null,
  what text not null,
  version int,
  step_id bigint,
  path text,
  reason text,
  arm text,
  users bigint not null,
  at timestamptz(3) not null,
  primary key (project_id, journey_id, id)
);

-- Calls of webhook steps that have no answer yet.
create table journey_calls (
  project_id bigint not null,
  user_id bigint not null,
  entrance_id bigint not null,
  visit int not null,
  journey_id bigint not null,
  attempts smallint not null default 0,
  host text not null,
  request jsonb not null,
  created_at timestamptz(3) not null,
  due_at timestamptz(3) not null,
  lease_token uuid,
  lease_until timestamptz(3),
  primary key (project_id, user_id, entrance_id, visit)
);
-- Hosts take turns, so that a slow one does not stop the others.
create index journey_calls_by_host on journey_calls (project_id, host, due_at);
create index journey_calls_due on journey_calls (due_at);

-- Work on many users of a journey: a schedule, or an action on all users inside. It appends to the ingest queue, some users at a time.
create table journey_sweeps (
  id bigint not null generated always as identity,
  project_id bigint not null,
  journey_id bigint not null,
  kind text not null,
  params jsonb not null default '{}',
  cursor jsonb,
  next_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  primary key (project_id, id),
  foreign key (project_id, journey_id) references journeys on delete cascade
);
create index journey_sweeps_due on journey_sweeps (next_at);
create index journey_sweeps_by_journey on journey_sweeps (project_id, journey_id);

-- The rate of a balancer: when its next place would be free if it had no burst.
create table journey_rates (
  project_id bigint not null,
  journey_id bigint not null,
  step_id bigint not null,
  next_at timestamptz(3) not null,
  primary key (project_id, journey_id, step_id)
);

alter table queue_entries
  drop constraint queue_entries_kind_check,
  add constraint queue_entries_kind_check check (kind in ('events', 'users', 'changes', 'journeys'));

-- The journey that wrote an event or caused it.
alter table events
  add column journey_id bigint,
  add column entrance_id bigint;

alter table messages
  add column journey_id bigint,
  add column entrance_id bigint,
  add column step_id bigint,
  add column visit int,
  -- The key of the step, for the events of the message.
  add column step text,
  -- When the state last changed.
  add column acted_at timestamptz(3);

-- The outcomes of messages of journeys are items of the ingest queue, appended by a trigger so that no statement can forget them.
create function append_outcomes() returns trigger language plpgsql as $$
begin
  if not exists (select from after where entrance_id is not null) then
    return null;
  end if;
  insert into queue_entries (project_id, kind, request_id, received_at, items, body)
  select a.project_id, 'journeys', '', coalesce(a.acted_at, a.settled_at, a.created_at), count(*),
         convert_to(jsonb_agg(jsonb_build_object('do', 'outcome', 'journey_id', a.journey_id, 'user_id', a.user_id, 'entrance_id', a.entrance_id,
                                                 'visit', a.visit, 'state', a.state, 'reason', a.reason) order by a.id)::text, 'UTF8')
  from after a
  join before b on b.project_id = a.project_id and b.id = a.id
  where a.entrance_id is not null and a.state <> b.state and a.state not in ('queued', 'claimed', 'deferred')
  group by a.project_id, coalesce(a.acted_at, a.settled_at, a.created_at)
  order by 1, 4;
  return null;
end
$$;

create trigger outcomes_appended after update on messages
  referencing old table as before new table as after for each statement execute function append_outcomes();
