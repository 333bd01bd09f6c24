-- The subscriptions of a project as a whole. Its row is locked while events are numbered or read, and while subscriptions change.
create table webhook_versions (
  project_id bigint primary key references projects,
  -- Counts the changes of subscriptions.
  version bigint not null,
  -- The event types that at least one active endpoint subscribes to now. Read whenever a webhook event occurs.
  event_types text[] not null
);

-- The event types of each active endpoint, from one version of the project to another: an event belongs to the endpoints whose
-- subscription includes its type and its version.
create table webhook_event_subscriptions (
  project_id bigint not null references projects,
  endpoint_id bigint not null,
  from_version bigint not null,
  -- Null for the present subscription. A former one is kept for events that are not delivered yet.
  to_version bigint,
  event_types text[] not null,
  ended_at timestamptz(3),
  primary key (project_id, endpoint_id, from_version)
);

create sequence webhook_positions;

-- Up to which position of the project's events each active endpoint has got its deliveries.
create table webhook_cursors (
  project_id bigint not null references projects,
  endpoint_id bigint not null,
  position bigint not null,
  -- When to look for further events; null when there were none.
  due_at timestamptz(3),
  -- Grows with each look, so that the endpoints of a project are looked at one after the other.
  looked_order bigint not null,
  primary key (project_id, endpoint_id)
) with (fillfactor = 85);
create index webhook_cursors_due on webhook_cursors (project_id, due_at) where due_at is not null;

-- Webhook events. Stored in the transaction that made them true, and only when an endpoint subscribes to the type.
create table webhook_events (
  id text not null,
  project_id bigint not null references projects,
  type text not null,
  occurred_at timestamptz(3) not null,
  -- Not jsonb: members keep their order, and the reply of a mail server may contain what jsonb refuses.
  data json not null,
  is_test boolean not null default false,
  -- The version of the subscriptions when it was stored.
  version bigint not null,
  created_at timestamptz(3) not null,
  -- Given after the commit, one project at a time: a cursor that has passed a position has passed all events before it.
  position bigint,
  primary key (project_id, id)
);
create index webhook_events_to_number on webhook_events (project_id, created_at, id) where position is null;
create index webhook_events_by_type on webhook_events (project_id, type, position) where position is not null;
create index webhook_events_by_age on webhook_events (created_at);

create table webhook_endpoints (
  id bigint not null generated always as identity,
  project_id bigint not null references projects,
  name text not null,
  url text not null,
  status text not null check (status in ('active', 'inactive', 'disabled')),
  event_types text[] not null,
  description text,
  api_version text not null,
  consecutive_failures int not null default 0,
  first_failure_at timestamptz(3),
  -- Why the system suspended it.
  disabled_reason text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  archived_at timestamptz(3),
  primary key (project_id, id)
);
create index webhook_endpoints_by_project on webhook_endpoints (project_id, id) where archived_at is null;
create index webhook_endpoints_archived on webhook_endpoints (id) where archived_at is not null;

create table webhook_secrets (
  id bigint not null generated always as identity,
  project_id bigint not null,
  endpoint_id bigint not null,
  sealed text not null,
  created_at timestamptz(3) not null,
  -- Null for the current secret; a replaced one signs too until then.
  expires_at timestamptz(3),
  primary key (project_id, id),
  foreign key (project_id, endpoint_id) references webhook_endpoints on delete cascade
);
create index webhook_secrets_by_endpoint on webhook_secrets (project_id, endpoint_id);

create table webhook_deliveries (
  id bigint not null generated always as identity,
  project_id bigint not null,
  endpoint_id bigint not null,
  event_id text not null,
  event_type text not null,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'cancelled')),
  attempts int not null default 0,
  -- How many of the attempts belong to the retry schedule; a resend starts it again.
  schedule_step int not null default 0,
  last_status_code int,
  last_error text,
  next_attempt_at timestamptz(3),
  lease_until timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (project_id, id),
  unique (project_id, endpoint_id, event_id),
  foreign key (project_id, endpoint_id) references webhook_endpoints
) with (fillfactor = 85);
-- Each endpoint has a queue of its own, so that a long one does not hide the others.
create index webhook_deliveries_due on webhook_deliveries (project_id, endpoint_id, next_attempt_at, id) where status = 'pending';
create index webhook_deliveries_by_endpoint on webhook_deliveries (project_id, endpoint_id, id);
create index webhook_deliveries_by_age on webhook_deliveries (created_at);

create table webhook_attempts (
  id bigint not null generated always as identity,
  project_id bigint not null,
  delivery_id bigint not null,
  attempted_at timestamptz(3) not null,
  elapsed_ms int not null,
  status_code int,
  error text,
  response_body text,
  primary key (project_id, id),
  foreign key (project_id, delivery_id) references webhook_deliveries on delete cascade
);
create index webhook_attempts_by_delivery on webhook_attempts (project_id, delivery_id);
