-- The links of campaigns as their templates have them. The same URL at another position is another link.
create table links (
  id bigint not null generated always as identity,
  project_id bigint not null references projects,
  campaign_id bigint not null,
  position int not null,
  url text not null,
  created_at timestamptz(3) not null,
  primary key (project_id, id)
);
create unique index links_by_campaign on links (project_id, campaign_id, position, md5(url));

-- Clicks by link and user; clicks of bots are counted apart.
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

-- Host names of projects for tracked links, in place of ours.
create table domains (
  id bigint not null generated always as identity,
  project_id bigint not null references projects,
  host text not null,
  -- A DNS record with this value proves that the project controls the host.
  verification_token text not null,
  is_verified boolean not null default false,
  is_default boolean not null default false,
  -- Why it is not verified, in a sentence.
  problem text,
  checked_at timestamptz(3),
  verified_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (project_id, id),
  unique (project_id, host)
);
-- A verified host belongs to one project.
create unique index domains_verified on domains (host) where is_verified;
create index domains_by_host on domains (host);
create unique index domains_default on domains (project_id) where is_default;
