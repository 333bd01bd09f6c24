-- A name of a campaign that is the same in every project that it is made in. Campaigns that exist get one from their name.
alter table campaigns
  add column slug text,
  -- The server made it for messages whose content comes with the request.
  add column is_direct boolean not null default false;

update campaigns c
set slug = case when n.place = 1 then n.base else left(n.base, 40) || '-' || c.id end
from (
  select project_id, id, base, row_number() over (partition by project_id, base order by id) as place
  from (
    select project_id, id, coalesce(nullif(trim(both '-' from left(regexp_replace(lower(name), '[^a-z0-9]+', '-', 'g'), 60)), ''), 'campaign') as base
    from campaigns where archived_at is null
  ) named
) n
where n.project_id = c.project_id and n.id = c.id;

create unique index campaigns_by_slug on campaigns (project_id, slug) where archived_at is null;
create unique index campaigns_direct on campaigns (project_id, subscription_id) where is_direct and archived_at is null;

-- Messages that requests ask for have a row in `message_requests`.
alter table messages add column is_requested boolean not null default false;

create table message_requests (
  project_id bigint not null references projects,
  message_id bigint not null,
  -- The key that the caller gave, and a keyed hash of what was asked for under it.
  key text,
  fingerprint text not null,
  -- The API key.
  sent_by bigint,
  locale text,
  content_id bigint,
  -- The paths in the data that are kept out of everything stored, and their values, encrypted, until the message is in a final state.
  redact text[] not null default '{}',
  sealed text,
  created_at timestamptz(3) not null,
  primary key (project_id, message_id)
);
create unique index message_requests_by_key on message_requests (project_id, key) where key is not null;
create index message_requests_by_sender on message_requests (project_id, sent_by, message_id);
create index message_requests_by_content on message_requests (project_id, content_id) where content_id is not null;

-- Content that came with requests, each once.
create table message_contents (
  id bigint not null generated always as identity,
  project_id bigint not null references projects,
  channel text not null,
  hash text not null,
  locale text not null,
  data jsonb not null,
  compiled jsonb not null,
  created_at timestamptz(3) not null,
  primary key (project_id, id),
  unique (project_id, channel, hash)
);

-- The states that messages have left, as far as they cannot be read from the message. The state that it is in is in `messages`.
create table message_states (
  id bigint not null generated always as identity,
  project_id bigint not null,
  message_id bigint not null,
  state text not null,
  reason text,
  detail text,
  at timestamptz(3) not null,
  primary key (project_id, message_id, id)
);

create function keep_left_state() returns trigger language plpgsql as $$
begin
  insert into message_states (project_id, message_id, state, reason, detail, at)
  values (old.project_id, old.id, old.state, old.reason, old.detail, coalesce(old.acted_at, old.settled_at, old.created_at));
  return null;
end
$$;

-- Not for waits that are repeated until something else happens: a rate, a winner, a pause.
create trigger states_kept after update of state on messages for each row
  when (new.state <> old.state and not old.is_erased and
        (old.state in ('sent', 'delivered', 'unknown') or (old.state = 'deferred' and old.reason in ('provider_deferred', 'quiet_hours', 'frequency_cap'))))
  execute function keep_left_state();

create function delete_sealed() returns trigger language plpgsql as $$
begin
  update message_requests set sealed = null where project_id = new.project_id and message_id = new.id and sealed is not null;
  return null;
end
$$;

create trigger sealed_deleted after update of state on messages for each row
  when (new.is_requested and new.state not in ('queued', 'claimed', 'deferred'))
  execute function delete_sealed();
