-- MTA-STS policies of the domains of recipients (RFC 8461), which must outlive a restart: otherwise an attacker who hides a policy from a
-- server that has just started takes it away. They are facts about domains, the same for every project.
create table mta_sts_policies (
  domain text primary key,
  policy jsonb not null,
  fetched_at timestamptz not null,
  expires_at timestamptz not null
);

create index mta_sts_policies_expired on mta_sts_policies (expires_at);
