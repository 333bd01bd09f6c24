-- Bounces that suppress an address only when there are several: a full mailbox, a domain without mail hosts. The address is hashed with the key of
-- the project, as in suppressions.
create table soft_bounces (
  project_id bigint not null references projects,
  address_hash text not null,
  -- The classification; bounces of different ones are counted apart.
  label text not null,
  bounced_at timestamptz(3) not null,
  id bigint generated always as identity,
  primary key (project_id, address_hash, label, bounced_at, id)
);
create index soft_bounces_by_age on soft_bounces (project_id, bounced_at);
alter table soft_bounces alter column project_id set (n_distinct = 10);
