-- Replays of webhook events to an endpoint: the events of some types and of a time are delivered again, in the background.
create table webhook_replays (
  id bigint not null generated always as identity,
  project_id bigint not null,
  endpoint_id bigint not null,
  event_types text[] not null,
  since timestamptz(3) not null,
  until timestamptz(3) not null,
  -- Without the events that the endpoint accepted.
  unaccepted_only boolean not null,
  status text not null check (status in ('running', 'finished', 'cancelled')),
  -- The events before this position were looked at, and those after the end are delivered anyway.
  position bigint not null default 0,
  end_position bigint not null,
  -- How many deliveries were queued.
  deliveries int not null default 0,
  -- When to look for further events; null when it is not running.
  due_at timestamptz(3),
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  primary key (project_id, id),
  foreign key (project_id, endpoint_id) references webhook_endpoints on delete cascade
);
create index webhook_replays_by_endpoint on webhook_replays (project_id, endpoint_id, id);
create unique index webhook_replays_running on webhook_replays (project_id, endpoint_id) where status = 'running';
create index webhook_replays_due on webhook_replays (project_id, due_at, id) where due_at is not null;
alter table webhook_replays alter column project_id set (n_distinct = 10);

-- The sites that a project sent email to: its limits for them, and what they said last.
create table mail_sites (
  project_id bigint not null references projects,
  site text not null,
  label text not null,
  -- Null without limits of the project.
  limits jsonb,
  last_reply text,
  last_replied_at timestamptz(3),
  updated_at timestamptz(3) not null,
  primary key (project_id, site)
);

-- What became of the attempts of a project at a site, by the hour.
create table mail_site_hours (
  project_id bigint not null references projects,
  site text not null,
  hour timestamptz(3) not null,
  delivered int not null,
  deferred int not null,
  bounced int not null,
  primary key (project_id, site, hour)
) with (fillfactor = 70);
create index mail_site_hours_by_age on mail_site_hours (project_id, hour);

-- The processes that deliver email, with the states of their sites. Each uses its share of the limits.
create table mail_processes (
  id uuid primary key,
  sites jsonb not null,
  reported_at timestamptz(3) not null
);

alter table mail_sites alter column project_id set (n_distinct = 10);
alter table mail_site_hours alter column project_id set (n_distinct = 10);
