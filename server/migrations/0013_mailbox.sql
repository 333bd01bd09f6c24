-- An unsubscribe concerns every user with the address that it came from, in any case.
create index users_by_email on users (project_id, lower(email collate "C")) where email is not null;

-- Whether a suppression stops transactional messages too. All but an unsubscribe from everything on a page do.
alter table suppressions add column stops_transactional boolean not null default true;

-- The addresses of a blast, each with the user whose message goes to it: an address gets one copy, however many users have it. They are
-- compared by hash, and deleted when the blast is over.
create table message_addresses (
  project_id bigint not null,
  campaign_id bigint not null,
  address_hash uuid not null,
  user_id bigint not null,
  primary key (project_id, campaign_id, address_hash)
);

-- The same for preflights, which send nothing.
create table preflight_addresses (
  project_id bigint not null,
  preflight_id bigint not null,
  address_hash uuid not null,
  primary key (project_id, preflight_id, address_hash),
  foreign key (project_id, preflight_id) references campaign_preflights on delete cascade
);

-- When uses of a rate were granted: pairs of a time in milliseconds and a number, those of the last interval only. They replace `tokens` and
-- `refilled_at`, which the previous release reads.
alter table rate_buckets add column grants jsonb not null default '[]';
