-- What the sandbox keeps of an email beside its content.
alter table sandbox_messages add column headers jsonb;

-- The parameters that the links of a campaign get.
alter table campaigns add column utm jsonb;

-- Headers that come with the request for a message, and how many attachments.
alter table message_requests
  add column headers jsonb,
  add column attachments smallint not null default 0;

create table message_attachments (
  project_id bigint not null,
  message_id bigint not null,
  position smallint not null,
  name text not null,
  content_type text not null,
  -- With one, the HTML shows the attachment where `cid:` names it.
  content_id text,
  content bytea not null,
  primary key (project_id, message_id, position)
);

-- Attachments are deleted with the redacted values. The sandbox shows them.
create or replace function delete_sealed() returns trigger language plpgsql as $$
begin
  update message_requests set sealed = null where project_id = new.project_id and message_id = new.id and sealed is not null;
  if new.provider is distinct from 'sandbox' then
    delete from message_attachments where project_id = new.project_id and message_id = new.id;
  end if;
  return null;
end
$$;

-- Projects that poll their activity, and the last position that was given.
create table activity_feeds (
  project_id bigint primary key references projects,
  last_position bigint not null,
  created_at timestamptz(3) not null
);

-- What users of such a project did. A row gets its position when it is first read, after its commit, so that a cursor passes none.
create table activity (
  id bigint not null generated always as identity,
  project_id bigint not null references projects,
  position bigint,
  type text not null,
  user_id bigint not null,
  message_id bigint,
  campaign_id bigint,
  journey_id bigint,
  data jsonb not null,
  created_at timestamptz(3) not null,
  stored_at timestamptz(3) not null,
  primary key (project_id, id)
);
create unique index activity_by_position on activity (project_id, position) where position is not null;
create index activity_without_position on activity (project_id, id) where position is null;
create index activity_by_user on activity (project_id, user_id);
create index activity_by_age on activity (stored_at);
