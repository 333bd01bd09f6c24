-- The event types that each active endpoint subscribes to, kept by `webhooks` and read whenever a webhook event is stored.
create table webhook_event_subscriptions (
  project_id bigint not null references projects,
  endpoint_id bigint not null,
  event_types text[] not null,
  primary key (project_id, endpoint_id)
);

-- Webhook events. Stored in the transaction that made them true, and only when an endpoint subscribes to the type.
create table webhook_events (
  id text not null,
  project_id bigint not null references projects,
  type text not null,
  occurred_at timestamptz(3) not null,
  -- Not jsonb: members keep their order, and the reply of a mail server may contain what jsonb refuses.
  data json not null,
  is_test boolean not null default false,
  -- The endpoints that were active and subscribed when it was stored.
  endpoint_ids bigint[] not null,
  created_at timestamptz(3) not null,
  dispatched_at timestamptz(3),
  primary key (project_id, id)
);
create index webhook_events_to_dispatch on webhook_events (created_at, id) where dispatched_at is null;
create index webhook_events_by_age on webhook_events (dispatched_at) where dispatched_at is not null;

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
