-- The outcomes that the sandbox of a project acts out, beside accepting messages.
create table sandbox_faults (
  project_id bigint primary key references projects (id),
  bounce_percent smallint not null,
  complaint_percent smallint not null,
  soft_fail_percent smallint not null,
  delay_seconds smallint not null,
  updated_at timestamp(3) with time zone not null
);
alter table sandbox_faults alter column project_id set (n_distinct = 10);
