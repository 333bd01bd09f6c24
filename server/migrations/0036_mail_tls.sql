-- MTA-STS policies of the domains of recipients (RFC 8461), which must outlive a restart: otherwise an attacker who hides a policy from a
-- server that has just started takes it away. They are facts about domains, the same for every project.
create table mta_sts_policies (
  domain text primary key,
  policy jsonb not null,
  fetched_at timestamptz not null,
  expires_at timestamptz not null
);

create index mta_sts_policies_expired on mta_sts_policies (expires_at);

-- How many deliveries had TLS, and why others had not (RFC 8460), by the day of UTC. The domain is empty for those that are counted together.
create table tls_results (
  project_id bigint not null,
  id bigint generated always as identity,
  day timestamptz(3) not null,
  domain text not null,
  policy text not null,
  result text not null,
  count bigint not null,
  primary key (project_id, day, domain, policy, result)
);

alter table tls_results alter column project_id set (n_distinct = 10);
create unique index tls_results_id on tls_results (project_id, id);
create index tls_results_day on tls_results (day);
