-- How far a build has come is the share of the ids between the first user and the last one: counting the users of a large project takes as
-- long as a tenth of the build. `users_done` and `users_total` are those of the previous release.
alter table list_versions add column ids_from bigint;
alter table list_versions add column ids_to bigint;

-- Parts of builds that another transaction than that of the build has committed: users with an id above `after` and up to `until`, or, with
-- the name of a partition of events, its pages.
create table list_build_parts (
  project_id bigint not null,
  version_id bigint not null,
  partition text not null default '',
  after bigint not null,
  until bigint not null,
  primary key (project_id, version_id, partition, after)
);
alter table list_build_parts alter column project_id set (n_distinct = 10);
