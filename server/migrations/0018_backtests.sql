-- What would have happened to the users of a journey in a past window, computed by a job.
create table journey_backtests (
  id bigint not null generated always as identity,
  project_id bigint not null,
  journey_id bigint not null,
  state text not null check (state in ('running', 'finished', 'cancelled', 'failed')),
  -- A version or steps, the window, and the highest number of users.
  params jsonb not null,
  users_total int,
  users_done int not null default 0,
  result jsonb,
  -- How often a job began it.
  attempts smallint not null default 0,
  lease_token uuid,
  lease_until timestamptz(3),
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  primary key (project_id, id),
  foreign key (project_id, journey_id) references journeys on delete cascade
);
create unique index journey_backtests_running on journey_backtests (project_id) where state = 'running';
create index journey_backtests_by_journey on journey_backtests (project_id, journey_id, id);
create index journey_backtests_by_age on journey_backtests (project_id, created_at);
