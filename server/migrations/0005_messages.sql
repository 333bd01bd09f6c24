-- Everything that goes out: one row for each (project, person, cause), written before any provider is called.
create table messages (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects,
  user_id bigint not null,
  campaign_id bigint not null,
  channel text not null,
  -- Why this person gets this message, such as `campaign:7:event:1042-3`; nobody gets one cause twice.
  cause text not null,
  -- What the template may say about it; gone as soon as the message is settled.
  event jsonb,
  state text not null default 'queued'
    check (state in ('queued', 'claimed', 'sent', 'delivered', 'deferred', 'failed', 'bounced', 'complained', 'skipped', 'aborted', 'unknown')),
  -- Why the state is what it is: a word that can be counted, and a sentence for people.
  reason text,
  detail text,
  attempts int not null default 0,
  due_at timestamptz(3) not null,
  lease_token uuid,
  lease_until timestamptz(3),
  provider text,
  created_at timestamptz(3) not null,
  settled_at timestamptz(3),
  unique (project_id, user_id, cause)
) with (fillfactor = 85);
create index messages_due on messages (project_id, due_at, id) where state in ('queued', 'deferred');
create index messages_leased on messages (lease_until) where state = 'claimed';
create index messages_by_campaign on messages (project_id, campaign_id, state);

-- What the sandbox provider captured; the id is that of the message, so that each is captured once.
create table sandbox_messages (
  id bigint primary key,
  project_id bigint not null references projects,
  user_id bigint not null,
  campaign_id bigint not null,
  channel text not null,
  recipient text not null,
  summary text not null,
  content jsonb not null,
  created_at timestamptz(3) not null
);
create index sandbox_messages_by_project on sandbox_messages (project_id, id);
create index sandbox_messages_by_user on sandbox_messages (project_id, user_id);
