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
