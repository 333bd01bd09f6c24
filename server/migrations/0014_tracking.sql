-- The links of campaigns as their templates have them. The same address at another place is another link.
create table links (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects,
  campaign_id bigint not null,
  position int not null,
  url text not null,
  created_at timestamptz(3) not null
);
create unique index links_by_campaign on links (project_id, campaign_id, position, md5(url));

-- Who followed a link how often; what machines did for them is counted apart.
create table link_clicks (
  project_id bigint not null references projects,
  link_id bigint not null,
  user_id bigint not null,
  clicks int not null,
  machine_clicks int not null,
  primary key (project_id, link_id, user_id)
) with (fillfactor = 85);
create index link_clicks_by_user on link_clicks (project_id, user_id);

create table campaign_opens (
  project_id bigint not null references projects,
  campaign_id bigint not null,
  opens bigint not null,
  proxied_opens bigint not null,
  machine_opens bigint not null,
  primary key (project_id, campaign_id)
) with (fillfactor = 50);

-- Host names that links of a project may lead to instead of ours.
create table domains (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects,
  host text not null,
  -- What the DNS has to say, to show that the host is the project's.
  verification_token text not null,
  is_verified boolean not null default false,
  is_default boolean not null default false,
  -- Why it is not verified, in a sentence.
  problem text,
  checked_at timestamptz(3),
  verified_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (project_id, host)
);
-- A host leads to one project.
create unique index domains_verified on domains (host) where is_verified;
create index domains_by_host on domains (host);
create unique index domains_default on domains (project_id) where is_default;
