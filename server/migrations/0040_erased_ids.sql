-- Keyed hashes of the ids of erased users, with the newest position of the queue of accepted requests at the time of the erasure: what was
-- accepted up to there does not create the users again. Kept until that has been applied.
create table erased_ids (
  project_id bigint not null references projects,
  id_hash text not null,
  position bigint not null,
  erased_at timestamptz(3) not null,
  primary key (project_id, id_hash)
);
create index erased_ids_by_age on erased_ids (erased_at);
alter table erased_ids alter column project_id set (n_distinct = 10);

-- The highest of these positions, so that a batch without such items reads nothing else.
alter table identity_epochs add column erased_position bigint not null default 0;
