-- An email that an application submits over SMTP is of no user and no campaign. In the sandbox it is kept as it came.
alter table sandbox_messages alter column user_id drop not null;
alter table sandbox_messages alter column campaign_id drop not null;
alter table sandbox_messages add column source bytea;

-- Refusals because a quota is exceeded: their number since the last webhook event, which is sent once a minute.
create table quota_refusals (
  project_id bigint not null references projects,
  quota text not null,
  refused int not null,
  reported_at timestamptz(3) not null,
  primary key (project_id, quota)
);
alter table quota_refusals alter column project_id set (n_distinct = 10);
