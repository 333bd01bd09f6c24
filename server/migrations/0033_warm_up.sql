-- Warm-up plans: how many emails of a new domain a destination gets in a day, which grows while few of them bounce or are deferred.
create table warm_ups (
  project_id bigint not null references projects,
  domain_id bigint not null,
  is_active boolean not null,
  -- The ceilings of the steps. After the last one there is none.
  steps int[] not null,
  bounce_percent_max real not null,
  deferral_percent_max real not null,
  -- Whether each own address that email is sent from is warmed up by itself.
  is_per_address boolean not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (project_id, domain_id)
);

-- The step of each destination, and the counts of its last day.
create table warm_up_sites (
  project_id bigint not null references projects,
  domain_id bigint not null,
  -- The own address, or an empty text for all of them together.
  source_address text not null,
  site text not null,
  step smallint not null,
  day date not null,
  sent int not null default 0,
  -- What the last statement that counted emails was given, which reads it back.
  granted int not null default 0,
  bounced int not null default 0,
  deferred int not null default 0,
  primary key (project_id, domain_id, source_address, site)
);
alter table warm_ups alter column project_id set (n_distinct = 10);
alter table warm_up_sites alter column project_id set (n_distinct = 10);
