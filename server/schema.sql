-- The schema after all migrations, generated from the PostgreSQL catalogue by `npm run print`.

create extension pg_trgm;

create sequence event_seq;

create sequence list_tracker_ids;

create sequence webhook_positions;

CREATE OR REPLACE FUNCTION add_message_days()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into message_days as d (project_id, day, campaign_id, journey_id, channel, state, messages, opens, clicks, unsubscribes)
  select project_id, day, campaign_id, journey_id, min(channel), state, sum(messages), sum(opens), sum(clicks), sum(unsubscribes)
  from before
  where day is not null
  group by project_id, day, campaign_id, journey_id, state
  order by project_id, day, campaign_id, journey_id, state
  on conflict (project_id, day, campaign_id, journey_id, state) do update
    set messages = d.messages + excluded.messages, opens = d.opens + excluded.opens, clicks = d.clicks + excluded.clicks,
        unsubscribes = d.unsubscribes + excluded.unsubscribes;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION append_outcomes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from after where entrance_id is not null) then
    return null;
  end if;
  insert into queue_entries (project_id, kind, request_id, received_at, items, body)
  select a.project_id, 'journeys', '', coalesce(a.acted_at, a.settled_at, a.created_at), count(*),
         convert_to(jsonb_agg(jsonb_build_object('do', 'outcome', 'journey_id', a.journey_id, 'user_id', a.user_id, 'entrance_id', a.entrance_id,
                                                 'visit', a.visit, 'state', a.state, 'reason', a.reason) order by a.id)::text, 'UTF8')
  from after a
  join before b on b.project_id = a.project_id and b.id = a.id
  where a.entrance_id is not null and a.state <> b.state and a.state not in ('queued', 'claimed', 'deferred')
  group by a.project_id, coalesce(a.acted_at, a.settled_at, a.created_at)
  order by 1, 4;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION count_credentials_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into credentials_version (version) values (1)
  on conflict (is_only) do update set version = credentials_version.version + 1;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION count_messages()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    insert into message_counts (project_id, campaign_id, journey_id, variant, state, reason, day, channel, messages, opens, clicks)
    select project_id, campaign_id, coalesce(journey_id, 0), variant, state, reason, (created_at at time zone 'UTC')::date, channel, count(*), count(opened_at), count(clicked_at)
    from after group by project_id, campaign_id, coalesce(journey_id, 0), variant, state, reason, (created_at at time zone 'UTC')::date, channel;
  else
    insert into message_counts (project_id, campaign_id, journey_id, variant, state, reason, day, channel, messages, opens, clicks)
    select project_id, campaign_id, coalesce(journey_id, 0), variant, state, reason, (created_at at time zone 'UTC')::date, channel, sum(sign), coalesce(sum(sign) filter (where opened_at is not null), 0), coalesce(sum(sign) filter (where clicked_at is not null), 0)
    from (select *, 1 as sign from after union all select *, -1 from before) changed
    group by project_id, campaign_id, coalesce(journey_id, 0), variant, state, reason, (created_at at time zone 'UTC')::date, channel
    having sum(sign) <> 0
        or sum(sign) filter (where opened_at is not null) <> 0
        or sum(sign) filter (where clicked_at is not null) <> 0;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION count_unsubscribe()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if coalesce(new.previous_state,
              (select s.default_state from subscriptions s where s.project_id = new.project_id and s.id = new.subscription_id)) = 0 then
    return null;
  end if;
  insert into message_counts (project_id, campaign_id, journey_id, variant, state, reason, day, channel, messages, opens, clicks, unsubscribes)
  select m.project_id, m.campaign_id, coalesce(m.journey_id, 0), m.variant, m.state, m.reason, (m.created_at at time zone 'UTC')::date, m.channel, 0, 0, 0, 1
  from messages m
  where m.project_id = new.project_id and m.id = (new.proof ->> 'message_id')::bigint
    and not exists (
      select from consent_entries e
      join subscriptions s on s.project_id = e.project_id and s.id = e.subscription_id
      where e.project_id = new.project_id and e.user_id = new.user_id and e.id < new.id and e.state = 0
        and e.proof ->> 'message_id' = new.proof ->> 'message_id' and not e.proof ? 'same_address_as'
        and coalesce(e.previous_state, s.default_state) <> 0
    );
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION declared_instant_of(value jsonb)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
declare
  stamp numeric;
  ms numeric;
begin
  if jsonb_typeof(value) = 'number' then
    stamp := value::numeric;
  elsif jsonb_typeof(value) = 'string' and value #>> '{}' ~ '^(?:[0-9]{9,10}|[0-9]{12,13})$' then
    stamp := (value #>> '{}')::numeric;
  else
    return instant_of(value #>> '{}');
  end if;
  ms := trunc(case when abs(stamp) >= 100000000000 then stamp else stamp * 1000 end);
  if ms < -62135596800000 or ms > 253402300799999 then
    return null;
  end if;
  -- Days and the rest of the day, because an interval of so many milliseconds is not exact.
  return ('epoch'::timestamp + div(ms, 86400000)::int * interval '1 day' + mod(ms, 86400000)::int * interval '1 millisecond') at time zone 'UTC';
end
$function$;

CREATE OR REPLACE FUNCTION delete_sealed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update message_requests set sealed = null where project_id = new.project_id and message_id = new.id and sealed is not null;
  if new.provider is distinct from 'sandbox' then
    delete from message_attachments where project_id = new.project_id and message_id = new.id;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION instant_of(value text)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
declare
  shape constant text := '^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])'
    '(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?$';
  instant timestamptz;
begin
  if value not like '____-__-__%' or value !~ shape or value like '0000%' then
    return null;
  end if;
  -- A day that the month does not have falls into the next one.
  if substr(value, 9, 2) > '28'
    and extract(month from (left(value, 8) || '01')::date + (substr(value, 9, 2)::int - 1)) <> substr(value, 6, 2)::int then
    return null;
  end if;
  if length(value) > 20 and substr(right(value, 6), 1, 1) in ('+', '-') then
    instant := (left(left(value, -6), 23)::timestamp - right(value, 6)::interval) at time zone 'UTC';
  else
    instant := left(rtrim(value, 'Z'), 23)::timestamp at time zone 'UTC';
  end if;
  if instant < '0001-01-01T00:00Z'::timestamptz or instant >= '10000-01-01T00:00Z'::timestamptz then
    return null;
  end if;
  return instant;
end
$function$;

CREATE OR REPLACE FUNCTION keep_left_state()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into message_states (project_id, message_id, state, reason, detail, at)
  values (old.project_id, old.id, old.state, old.reason, old.detail, coalesce(old.acted_at, old.settled_at, old.created_at));
  return null;
end
$function$;

create table activity (
  id bigint not null generated always as identity,
  project_id bigint not null,
  position bigint,
  type text not null,
  user_id bigint not null,
  message_id bigint,
  campaign_id bigint,
  journey_id bigint,
  data jsonb not null,
  created_at timestamp(3) with time zone not null,
  stored_at timestamp(3) with time zone not null,
  constraint activity_pkey PRIMARY KEY (project_id, id),
  constraint activity_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX activity_by_age ON activity USING btree (stored_at);
CREATE UNIQUE INDEX activity_by_position ON activity USING btree (project_id, "position") WHERE ("position" IS NOT NULL);
CREATE INDEX activity_by_user ON activity USING btree (project_id, user_id);
CREATE INDEX activity_without_position ON activity USING btree (project_id, id) WHERE ("position" IS NULL);

create table activity_feeds (
  project_id bigint not null,
  last_position bigint not null,
  created_at timestamp(3) with time zone not null,
  constraint activity_feeds_pkey PRIMARY KEY (project_id),
  constraint activity_feeds_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table api_keys (
  id bigint not null generated always as identity,
  organization_id bigint not null,
  project_id bigint,
  scope text not null,
  role text not null,
  name text not null,
  description text,
  hash text not null,
  prefix text not null,
  last4 text not null,
  is_system_key boolean not null default false,
  allowed_origins text[] not null default '{}'::text[],
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  archived_at timestamp(3) with time zone,
  member_id bigint,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_hash_key UNIQUE (hash),
  constraint api_keys_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id),
  constraint api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organisations(id),
  constraint api_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint api_keys_check CHECK (((scope = 'organisation'::text) = (project_id IS NULL))),
  constraint api_keys_scope_check CHECK ((scope = ANY (ARRAY['public'::text, 'secret'::text, 'organisation'::text])))
);
CREATE INDEX api_keys_by_project ON api_keys USING btree (project_id, id) WHERE (archived_at IS NULL);
CREATE UNIQUE INDEX api_keys_of_member ON api_keys USING btree (member_id, COALESCE(project_id, (0)::bigint)) WHERE ((member_id IS NOT NULL) AND (archived_at IS NULL));
CREATE CONSTRAINT TRIGGER credentials_of_key AFTER DELETE OR UPDATE ON api_keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_credentials_version();

create table api_requests (
  project_id bigint not null,
  id bigint not null generated always as identity,
  request_id text not null,
  method text not null,
  route text not null,
  params jsonb not null,
  query jsonb not null,
  body jsonb,
  status smallint not null,
  code text,
  param text,
  elapsed_ms integer not null,
  actor_type text not null,
  actor_id bigint,
  actor_name text,
  via text not null,
  original_request text,
  left_out integer not null,
  created_at timestamp(3) with time zone not null,
  constraint api_requests_pkey PRIMARY KEY (project_id, id),
  constraint api_requests_actor_type_check CHECK ((actor_type = ANY (ARRAY['key'::text, 'member'::text, 'system'::text]))),
  constraint api_requests_via_check CHECK ((via = ANY (ARRAY['api'::text, 'console'::text, 'cli'::text, 'system'::text])))
);

create table attribute_profiles (
  project_id bigint not null,
  run bigint not null,
  key text not null,
  types text[] not null,
  users bigint not null,
  last_seen timestamp(3) with time zone not null,
  sample_users bigint[] not null,
  constraint attribute_profiles_pkey PRIMARY KEY (project_id, run, key)
);

create table attribute_profiling (
  project_id bigint not null,
  asked_at timestamp(3) with time zone not null,
  due_at timestamp(3) with time zone,
  run bigint not null default 0,
  users bigint not null default 0,
  as_of timestamp(3) with time zone,
  started_at timestamp(3) with time zone,
  looked_to bigint not null default 0,
  users_so_far bigint not null default 0,
  constraint attribute_profiling_pkey PRIMARY KEY (project_id)
);
CREATE INDEX attribute_profiling_due ON attribute_profiling USING btree (due_at) WHERE (due_at IS NOT NULL);

create table attributes (
  project_id bigint not null,
  key text not null,
  min_role text,
  is_hidden boolean not null default false,
  is_end_user boolean not null default false,
  updated_at timestamp(3) with time zone not null,
  label text,
  is_personal boolean not null default false,
  constraint attributes_pkey PRIMARY KEY (project_id, key),
  constraint attributes_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table audit_chains (
  organization_id bigint not null,
  project_id bigint not null,
  position bigint not null,
  hash text not null,
  purged_position bigint not null default 0,
  constraint audit_chains_pkey PRIMARY KEY (project_id, organization_id)
);

create table audit_entries (
  id bigint not null generated always as identity,
  organization_id bigint not null,
  project_id bigint,
  position bigint not null,
  action text not null,
  object_type text not null,
  object_id text,
  object_name text,
  actor_type text not null,
  actor_id bigint,
  actor_name text,
  via text not null,
  request_id text,
  before json,
  after json,
  details json,
  previous_hash text not null,
  hash text not null,
  created_at timestamp(3) with time zone not null,
  constraint audit_entries_pkey PRIMARY KEY (id),
  constraint audit_entries_actor_type_check CHECK ((actor_type = ANY (ARRAY['key'::text, 'member'::text, 'system'::text]))),
  constraint audit_entries_via_check CHECK ((via = ANY (ARRAY['api'::text, 'console'::text, 'cli'::text, 'system'::text])))
);
CREATE INDEX audit_entries_by_action ON audit_entries USING btree (project_id, action, created_at, id);
CREATE INDEX audit_entries_by_actor ON audit_entries USING btree (project_id, actor_type, actor_id, created_at, id);
CREATE INDEX audit_entries_by_age ON audit_entries USING btree (created_at);
CREATE INDEX audit_entries_by_object ON audit_entries USING btree (project_id, object_type, object_id, created_at, id);
CREATE INDEX audit_entries_by_position ON audit_entries USING btree (project_id, organization_id, "position");
CREATE INDEX audit_entries_by_time ON audit_entries USING btree (project_id, created_at, id);
CREATE INDEX audit_entries_of_organisation ON audit_entries USING btree (organization_id, created_at, id);

create table campaign_audiences (
  campaign_id bigint not null,
  project_id bigint not null,
  loaded_to bigint not null default 0,
  is_complete boolean not null default false,
  touched_at timestamp(3) with time zone not null,
  constraint campaign_audiences_pkey PRIMARY KEY (project_id, campaign_id),
  constraint campaign_audiences_project_id_campaign_id_fkey FOREIGN KEY (project_id, campaign_id) REFERENCES campaigns(project_id, id)
);
CREATE INDEX campaign_audiences_unfinished ON campaign_audiences USING btree (touched_at, campaign_id) WHERE (NOT is_complete);

create table campaign_opens (
  project_id bigint not null,
  campaign_id bigint not null,
  opens bigint not null,
  proxied_opens bigint not null,
  machine_opens bigint not null,
  constraint campaign_opens_pkey PRIMARY KEY (project_id, campaign_id),
  constraint campaign_opens_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
) with (fillfactor=50);

create table campaign_preflights (
  id bigint not null generated always as identity,
  project_id bigint not null,
  campaign_id bigint not null,
  state text not null,
  people_total bigint not null,
  people_done bigint not null default 0,
  done_to bigint not null default 0,
  counts jsonb not null default '[]'::jsonb,
  problems jsonb not null default '[]'::jsonb,
  created_at timestamp(3) with time zone not null,
  touched_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  constraint campaign_preflights_pkey PRIMARY KEY (project_id, id),
  constraint campaign_preflights_project_id_campaign_id_fkey FOREIGN KEY (project_id, campaign_id) REFERENCES campaigns(project_id, id),
  constraint campaign_preflights_state_check CHECK ((state = ANY (ARRAY['running'::text, 'finished'::text])))
);
CREATE INDEX campaign_preflights_by_campaign ON campaign_preflights USING btree (project_id, campaign_id, id);
CREATE INDEX campaign_preflights_running ON campaign_preflights USING btree (project_id, touched_at, id) WHERE (state = 'running'::text);

create table campaign_templates (
  id bigint not null generated always as identity,
  project_id bigint not null,
  campaign_id bigint not null,
  locale text not null,
  data jsonb not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  variant smallint not null default 0,
  compiled jsonb,
  attachment_bytes integer not null default 0,
  constraint campaign_templates_pkey PRIMARY KEY (project_id, id),
  constraint campaign_templates_project_id_campaign_id_locale_variant_key UNIQUE (project_id, campaign_id, locale, variant),
  constraint campaign_templates_project_id_campaign_id_fkey FOREIGN KEY (project_id, campaign_id) REFERENCES campaigns(project_id, id) ON DELETE CASCADE,
  constraint campaign_templates_variant_check CHECK (((variant >= 0) AND (variant <= 25)))
);

create table campaigns (
  id bigint not null generated always as identity,
  project_id bigint not null,
  type text not null,
  name text not null,
  channel text not null,
  subscription_id bigint not null,
  provider_id bigint,
  state text not null,
  event_name text,
  list_ids bigint[] not null default '{}'::bigint[],
  exclusion_list_ids bigint[] not null default '{}'::bigint[],
  tags text[] not null default '{}'::text[],
  send_in_user_timezone boolean not null default false,
  send_at text,
  custom_domain_id bigint,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  archived_at timestamp(3) with time zone,
  rate jsonb,
  expires_after_hours smallint not null default 72,
  holdout_percent smallint not null default 0,
  variants jsonb not null default '[]'::jsonb,
  winner jsonb,
  event_rule jsonb,
  due_at timestamp(3) with time zone,
  paused_at timestamp(3) with time zone,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  winner_variant smallint,
  winner_numbers jsonb,
  pending_action text,
  paused_reason text,
  over_budget integer not null default 0,
  over_budget_since timestamp(3) with time zone,
  slug text,
  is_direct boolean not null default false,
  utm jsonb,
  mail_retries jsonb,
  constraint campaigns_pkey PRIMARY KEY (project_id, id),
  constraint campaigns_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint campaigns_project_id_subscription_id_fkey FOREIGN KEY (project_id, subscription_id) REFERENCES subscriptions(project_id, id),
  constraint campaigns_paused_reason_check CHECK ((paused_reason = 'render_budget'::text)),
  constraint campaigns_pending_action_check CHECK ((pending_action = ANY (ARRAY['hold'::text, 'release'::text, 'withdraw'::text]))),
  constraint campaigns_state_check CHECK ((state = ANY (ARRAY['draft'::text, 'scheduled'::text, 'loading'::text, 'running'::text, 'finished'::text, 'aborting'::text, 'aborted'::text]))),
  constraint campaigns_type_check CHECK ((type = ANY (ARRAY['blast'::text, 'trigger'::text])))
);
CREATE INDEX campaigns_archived ON campaigns USING btree (project_id, created_at, id) WHERE (archived_at IS NOT NULL);
CREATE INDEX campaigns_by_event ON campaigns USING btree (project_id, event_name) WHERE ((type = 'trigger'::text) AND (state = 'running'::text) AND (archived_at IS NULL));
CREATE INDEX campaigns_by_project ON campaigns USING btree (project_id, created_at, id) WHERE (archived_at IS NULL);
CREATE UNIQUE INDEX campaigns_by_slug ON campaigns USING btree (project_id, slug) WHERE (archived_at IS NULL);
CREATE UNIQUE INDEX campaigns_direct ON campaigns USING btree (project_id, subscription_id) WHERE (is_direct AND (archived_at IS NULL));
CREATE INDEX campaigns_due ON campaigns USING btree (due_at) WHERE ((state = 'scheduled'::text) AND (archived_at IS NULL));
CREATE INDEX campaigns_under_way ON campaigns USING btree (id) WHERE ((type = 'blast'::text) AND (state = ANY (ARRAY['loading'::text, 'running'::text])) AND (archived_at IS NULL));
CREATE INDEX campaigns_with_pending_action ON campaigns USING btree (id) WHERE (pending_action IS NOT NULL);

create table confirmations (
  id bigint not null generated always as identity,
  project_id bigint not null,
  user_id bigint not null,
  subscription_id bigint not null,
  requested_at timestamp(3) with time zone not null,
  address_hash text,
  constraint confirmations_pkey PRIMARY KEY (project_id, id),
  constraint confirmations_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint confirmations_project_id_subscription_id_fkey FOREIGN KEY (project_id, subscription_id) REFERENCES subscriptions(project_id, id) ON DELETE CASCADE
);
CREATE INDEX confirmations_by_user ON confirmations USING btree (project_id, user_id, subscription_id, requested_at);

create table consent_entries (
  id bigint not null generated by default as identity,
  project_id bigint not null,
  user_id bigint not null,
  subscription_id bigint not null,
  state smallint not null,
  previous_state smallint,
  source text not null,
  wording text,
  proof jsonb not null default '{}'::jsonb,
  at timestamp(3) with time zone not null,
  constraint consent_entries_pkey PRIMARY KEY (project_id, id),
  constraint consent_entries_state_check CHECK ((state = ANY (ARRAY[0, 1, 2])))
);
CREATE INDEX consent_entries_by_user ON consent_entries USING btree (project_id, user_id, id);
CREATE TRIGGER unsubscribe_counted AFTER INSERT ON consent_entries FOR EACH ROW WHEN (((new.state = 0) AND (new.proof ? 'message_id'::text) AND (NOT (new.proof ? 'same_address_as'::text)))) EXECUTE FUNCTION count_unsubscribe();

create table credentials_version (
  is_only boolean not null default true,
  version bigint not null,
  constraint credentials_version_pkey PRIMARY KEY (is_only),
  constraint credentials_version_is_only_check CHECK (is_only)
);

create table devices (
  id bigint not null generated always as identity,
  project_id bigint not null,
  user_id bigint not null,
  device_id text not null,
  token text,
  os text,
  os_version text,
  model text,
  app_build text,
  app_version text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint devices_pkey PRIMARY KEY (project_id, id),
  constraint devices_project_id_device_id_key UNIQUE (project_id, device_id)
);
CREATE UNIQUE INDEX devices_by_token ON devices USING btree (project_id, token) WHERE (token IS NOT NULL);
CREATE INDEX devices_by_user ON devices USING btree (project_id, user_id);

create table dkim_keys (
  project_id bigint not null,
  domain_id bigint not null,
  selector text not null,
  algorithm text not null,
  public_key text not null,
  private_key_sealed text not null,
  state text not null default 'pending'::text,
  created_at timestamp(3) with time zone not null,
  retired_at timestamp(3) with time zone,
  constraint dkim_keys_pkey PRIMARY KEY (project_id, domain_id, selector),
  constraint dkim_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint dkim_keys_algorithm_check CHECK ((algorithm = ANY (ARRAY['rsa-sha256'::text, 'ed25519-sha256'::text]))),
  constraint dkim_keys_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'active'::text, 'retired'::text])))
);

create table domains (
  id bigint not null generated always as identity,
  project_id bigint not null,
  host text not null,
  verification_token text not null,
  is_verified boolean not null default false,
  is_default boolean not null default false,
  problem text,
  checked_at timestamp(3) with time zone,
  verified_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  sending_domain text,
  sending_verified_at timestamp(3) with time zone,
  sending_problem text,
  is_strict boolean not null default false,
  has_return_path boolean not null default false,
  records jsonb not null default '[]'::jsonb,
  dns_host text,
  failed_checks smallint not null default 0,
  next_check_at timestamp(3) with time zone not null default now(),
  spf_alignment text,
  failed_sending_checks integer not null default 0,
  constraint domains_pkey PRIMARY KEY (project_id, id),
  constraint domains_project_id_host_key UNIQUE (project_id, host),
  constraint domains_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint domains_spf_alignment_check CHECK ((spf_alignment = ANY (ARRAY['relaxed'::text, 'strict'::text])))
);
CREATE INDEX domains_by_host ON domains USING btree (host);
CREATE UNIQUE INDEX domains_default ON domains USING btree (project_id) WHERE is_default;
CREATE UNIQUE INDEX domains_sending ON domains USING btree (project_id, sending_domain) WHERE (sending_domain IS NOT NULL);
CREATE INDEX domains_to_check ON domains USING btree (next_check_at);
CREATE UNIQUE INDEX domains_verified ON domains USING btree (host) WHERE is_verified;

create table erased_ids (
  project_id bigint not null,
  id_hash text not null,
  position bigint not null,
  erased_at timestamp(3) with time zone not null,
  constraint erased_ids_pkey PRIMARY KEY (project_id, id_hash),
  constraint erased_ids_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX erased_ids_by_age ON erased_ids USING btree (erased_at);

create table erasures (
  id bigint not null generated always as identity,
  project_id bigint not null,
  user_id bigint not null,
  state text not null default 'requested'::text,
  removed jsonb not null default '{}'::jsonb,
  requested_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  constraint erasures_pkey PRIMARY KEY (project_id, id),
  constraint erasures_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint erasures_state_check CHECK ((state = ANY (ARRAY['requested'::text, 'finished'::text])))
);
CREATE INDEX erasures_requested ON erasures USING btree (project_id, user_id) WHERE (state = 'requested'::text);

create table event_day_totals (
  project_id bigint not null,
  day date not null,
  partition smallint not null,
  events bigint not null,
  constraint event_day_totals_pkey PRIMARY KEY (project_id, day, partition)
) with (fillfactor=70);

create table event_days (
  project_id bigint not null,
  name text not null,
  day date not null,
  partition smallint not null,
  events bigint not null,
  constraint event_days_pkey PRIMARY KEY (project_id, name, day, partition)
) with (fillfactor=70);
CREATE INDEX event_days_by_age ON event_days USING btree (day);
CREATE INDEX event_days_by_day ON event_days USING btree (project_id, day);

create table event_ids (
  project_id bigint not null,
  event_id text not null,
  received_at timestamp(3) with time zone not null,
  constraint event_ids_pkey PRIMARY KEY (project_id, event_id)
);
CREATE INDEX event_ids_by_age ON event_ids USING btree (received_at);

create table event_name_totals (
  project_id bigint not null,
  name text not null,
  events bigint not null,
  constraint event_name_totals_pkey PRIMARY KEY (project_id, name)
) with (fillfactor=70);
CREATE INDEX event_name_totals_by_events ON event_name_totals USING btree (project_id, events DESC);

create table event_names (
  id bigint not null generated always as identity,
  project_id bigint not null,
  name text not null,
  partition smallint not null,
  events bigint not null,
  first_at timestamp(3) with time zone not null,
  last_at timestamp(3) with time zone not null,
  recent_users bigint[] not null,
  recent_times timestamp(3) with time zone[] not null,
  totalled bigint not null default 0,
  is_totalled boolean not null generated always as ((events = totalled)) stored,
  constraint event_names_pkey PRIMARY KEY (project_id, name, partition)
) with (fillfactor=50);
CREATE INDEX event_names_to_total ON event_names USING btree (project_id) WHERE (NOT is_totalled);

create table event_removals (
  before timestamp(3) with time zone not null,
  removed bigint not null default 0,
  past_to bigint not null default 0,
  completed_at timestamp(3) with time zone,
  followed_at timestamp(3) with time zone,
  constraint event_removals_pkey PRIMARY KEY (before)
);

create table events (
  project_id bigint not null,
  user_id bigint not null,
  name text not null,
  data jsonb not null,
  created_at timestamp(3) with time zone not null,
  received_at timestamp(3) with time zone not null,
  seq bigint not null default nextval('event_seq'::regclass),
  source text,
  journey_id bigint,
  entrance_id bigint,
  constraint events_pkey PRIMARY KEY (project_id, user_id, created_at, seq),
  constraint events_source_check CHECK ((source = 'system'::text))
) partition by RANGE (created_at);

create table idempotency_records (
  key_id bigint not null,
  idempotency_key text not null,
  fingerprint text not null,
  status integer,
  body text,
  is_sealed boolean not null,
  location text,
  request_id text not null,
  expires_at timestamp(3) with time zone not null,
  constraint idempotency_records_pkey PRIMARY KEY (key_id, idempotency_key)
);
CREATE INDEX idempotency_records_by_expiry ON idempotency_records USING btree (expires_at);

create table identity_epochs (
  project_id bigint not null,
  epoch bigint not null,
  erased_position bigint not null default 0,
  constraint identity_epochs_pkey PRIMARY KEY (project_id)
);

create table import_changes (
  project_id bigint not null,
  import_id bigint not null,
  position bigint not null,
  no integer not null,
  user_id bigint not null,
  is_new boolean not null,
  before jsonb not null,
  after jsonb not null,
  joined boolean not null,
  subscription_ids bigint[] not null,
  at timestamp(3) with time zone not null,
  is_counted boolean not null default false,
  constraint import_changes_pkey PRIMARY KEY (project_id, import_id, "position", no),
  constraint import_changes_project_id_import_id_fkey FOREIGN KEY (project_id, import_id) REFERENCES imports(project_id, id) ON DELETE CASCADE
);
CREATE INDEX import_changes_by_user ON import_changes USING btree (project_id, user_id, import_id, "position", no);

create table import_chunks (
  project_id bigint not null,
  import_id bigint not null,
  no integer not null,
  bytes bytea storage external not null,
  constraint import_chunks_pkey PRIMARY KEY (project_id, import_id, no),
  constraint import_chunks_project_id_import_id_fkey FOREIGN KEY (project_id, import_id) REFERENCES imports(project_id, id) ON DELETE CASCADE
);

create table import_dry_run_rows (
  project_id bigint not null,
  import_id bigint not null,
  key text not null,
  profile jsonb not null,
  constraint import_dry_run_rows_pkey PRIMARY KEY (project_id, import_id, key),
  constraint import_dry_run_rows_project_id_import_id_fkey FOREIGN KEY (project_id, import_id) REFERENCES imports(project_id, id) ON DELETE CASCADE
);

create table import_failures (
  project_id bigint not null,
  import_id bigint not null,
  line bigint not null,
  code text not null,
  message text not null,
  cells text[] not null,
  constraint import_failures_pkey PRIMARY KEY (project_id, import_id, line),
  constraint import_failures_project_id_import_id_fkey FOREIGN KEY (project_id, import_id) REFERENCES imports(project_id, id) ON DELETE CASCADE
);

create table imports (
  id bigint not null generated always as identity,
  project_id bigint not null,
  list_id bigint not null,
  state text not null default 'receiving'::text,
  reason text,
  delimiter text not null,
  columns jsonb not null,
  dry_run boolean not null,
  update_existing boolean not null,
  consent_source text,
  subscription_ids bigint[] not null,
  bytes bigint not null default 0,
  position bigint not null,
  line bigint not null,
  rows bigint not null default 0,
  created bigint not null default 0,
  updated bigint not null default 0,
  unchanged bigint not null default 0,
  skipped bigint not null default 0,
  failed bigint not null default 0,
  added bigint not null default 0,
  attempts smallint not null default 0,
  created_at timestamp(3) with time zone not null,
  received_at timestamp(3) with time zone not null,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  cleared_at timestamp(3) with time zone,
  purged_at timestamp(3) with time zone,
  first_rows jsonb,
  removed bigint not null default 0,
  restored bigint not null default 0,
  undone_at timestamp(3) with time zone,
  changes_deleted_at timestamp(3) with time zone,
  filename text,
  file_sha256 text,
  rows_total bigint,
  key_id bigint,
  accepted_position bigint not null default 0,
  constraint imports_pkey PRIMARY KEY (project_id, id),
  constraint imports_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint imports_project_id_list_id_fkey FOREIGN KEY (project_id, list_id) REFERENCES lists(project_id, id),
  constraint imports_state_check CHECK ((state = ANY (ARRAY['receiving'::text, 'queued'::text, 'running'::text, 'finished'::text, 'failed'::text, 'cancelled'::text, 'undoing'::text, 'undone'::text])))
) with (fillfactor=70);
CREATE INDEX imports_by_list ON imports USING btree (project_id, list_id, id) WHERE (state <> 'receiving'::text);
CREATE INDEX imports_receiving ON imports USING btree (received_at) WHERE (state = 'receiving'::text);
CREATE INDEX imports_to_clear ON imports USING btree (id) WHERE ((finished_at IS NOT NULL) AND (cleared_at IS NULL));
CREATE INDEX imports_to_purge ON imports USING btree (finished_at) WHERE ((finished_at IS NOT NULL) AND (purged_at IS NULL));
CREATE INDEX imports_undoing ON imports USING btree (project_id, id) WHERE (state = 'undoing'::text);
CREATE INDEX imports_unfinished ON imports USING btree (project_id, id) WHERE (state = ANY (ARRAY['receiving'::text, 'queued'::text, 'running'::text]));
CREATE INDEX imports_with_changes ON imports USING btree (finished_at) WHERE ((finished_at IS NOT NULL) AND (changes_deleted_at IS NULL) AND (state <> 'undoing'::text));
CREATE INDEX imports_with_first_rows ON imports USING btree (project_id, id) WHERE (first_rows IS NOT NULL);

create table inbox_counters (
  user_id bigint not null,
  project_id bigint not null,
  seq bigint not null,
  unread integer not null,
  constraint inbox_counters_pkey PRIMARY KEY (project_id, user_id),
  constraint inbox_counters_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
) with (fillfactor=85);

create table inbox_messages (
  id bigint not null,
  project_id bigint not null,
  user_id bigint not null,
  campaign_id bigint not null,
  content jsonb not null,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone,
  seen_at timestamp(3) with time zone,
  read_at timestamp(3) with time zone,
  clicked_at timestamp(3) with time zone,
  archived_at timestamp(3) with time zone,
  seq bigint not null,
  constraint inbox_messages_pkey PRIMARY KEY (project_id, id),
  constraint inbox_messages_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX inbox_messages_by_expiry ON inbox_messages USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX inbox_messages_by_seq ON inbox_messages USING btree (project_id, user_id, seq);
CREATE INDEX inbox_messages_by_user ON inbox_messages USING btree (project_id, user_id, created_at, id);
CREATE INDEX inbox_messages_unread ON inbox_messages USING btree (project_id, user_id, expires_at) WHERE ((read_at IS NULL) AND (archived_at IS NULL));

create table introduced_names (
  project_id bigint not null,
  kind text not null,
  name text not null,
  constraint introduced_names_pkey PRIMARY KEY (project_id, kind, name),
  constraint introduced_names_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint introduced_names_kind_check CHECK ((kind = ANY (ARRAY['event'::text, 'attribute'::text, 'event_data'::text])))
);

create table journey_backtests (
  id bigint not null generated always as identity,
  project_id bigint not null,
  journey_id bigint not null,
  state text not null,
  params jsonb not null,
  users_total integer,
  users_done integer not null default 0,
  result jsonb,
  attempts smallint not null default 0,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  constraint journey_backtests_pkey PRIMARY KEY (project_id, id),
  constraint journey_backtests_project_id_journey_id_fkey FOREIGN KEY (project_id, journey_id) REFERENCES journeys(project_id, id) ON DELETE CASCADE,
  constraint journey_backtests_state_check CHECK ((state = ANY (ARRAY['running'::text, 'finished'::text, 'cancelled'::text, 'failed'::text])))
);
CREATE INDEX journey_backtests_by_age ON journey_backtests USING btree (project_id, created_at);
CREATE INDEX journey_backtests_by_journey ON journey_backtests USING btree (project_id, journey_id, id);
CREATE UNIQUE INDEX journey_backtests_running ON journey_backtests USING btree (project_id) WHERE (state = 'running'::text);

create table journey_calls (
  project_id bigint not null,
  user_id bigint not null,
  entrance_id bigint not null,
  visit integer not null,
  journey_id bigint not null,
  attempts smallint not null default 0,
  host text not null,
  request jsonb not null,
  created_at timestamp(3) with time zone not null,
  due_at timestamp(3) with time zone not null,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  constraint journey_calls_pkey PRIMARY KEY (project_id, user_id, entrance_id, visit)
);
CREATE INDEX journey_calls_by_host ON journey_calls USING btree (project_id, host, due_at);
CREATE INDEX journey_calls_due ON journey_calls USING btree (due_at);

create table journey_clocks (
  project_id bigint not null,
  checked_to timestamp(3) with time zone not null,
  constraint journey_clocks_pkey PRIMARY KEY (project_id)
);

create table journey_counts (
  id bigint not null generated always as identity,
  project_id bigint not null,
  journey_id bigint not null,
  what text not null,
  version integer,
  step_id bigint,
  path text,
  reason text,
  arm text,
  users bigint not null,
  at timestamp(3) with time zone not null,
  constraint journey_counts_pkey PRIMARY KEY (project_id, journey_id, id)
);

create table journey_entrances (
  project_id bigint not null,
  user_id bigint not null,
  entrance_id bigint not null,
  journey_id bigint not null,
  step_id bigint not null,
  version integer not null,
  visit integer not null,
  depth smallint not null,
  attempts smallint not null default 0,
  is_held boolean not null default false,
  entered_at timestamp(3) with time zone not null,
  arrived_at timestamp(3) with time zone not null,
  acted_at timestamp(3) with time zone not null,
  due_at timestamp(3) with time zone,
  slot text not null,
  key text,
  cause text not null,
  waits text[] not null default '{}'::text[],
  parked text,
  event jsonb,
  answers jsonb not null default '{}'::jsonb,
  seen jsonb not null default '{}'::jsonb,
  trail json not null default '[]'::json,
  until timestamp(3) with time zone,
  constraint journey_entrances_pkey PRIMARY KEY (project_id, user_id, entrance_id),
  constraint journey_entrances_project_id_journey_id_user_id_slot_key UNIQUE (project_id, journey_id, user_id, slot)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
CREATE INDEX journey_entrances_parked ON journey_entrances USING btree (project_id, journey_id, user_id) WHERE (parked IS NOT NULL);

create table journey_keys (
  project_id bigint not null,
  user_id bigint not null,
  journey_id bigint not null,
  key_hash bigint not null,
  seen_on date not null default CURRENT_DATE,
  constraint journey_keys_pkey PRIMARY KEY (project_id, user_id, journey_id, key_hash)
);
CREATE INDEX journey_keys_by_age ON journey_keys USING btree (project_id, seen_on);

create table journey_past (
  project_id bigint not null,
  user_id bigint not null,
  entrance_id bigint not null,
  journey_id bigint not null,
  step_id bigint not null,
  version integer not null,
  visit integer not null,
  depth smallint not null,
  entered_at timestamp(3) with time zone not null,
  arrived_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone not null,
  outcome text not null,
  reason text not null,
  key text,
  cause text not null,
  event jsonb,
  answers jsonb not null,
  trail json not null,
  constraint journey_past_pkey PRIMARY KEY (project_id, user_id, entrance_id, ended_at),
  constraint journey_past_outcome_check CHECK ((outcome = ANY (ARRAY['completed'::text, 'exited'::text])))
) partition by RANGE (ended_at);

create table journey_rates (
  project_id bigint not null,
  journey_id bigint not null,
  step_id bigint not null,
  next_at timestamp(3) with time zone not null,
  constraint journey_rates_pkey PRIMARY KEY (project_id, journey_id, step_id)
);

create table journey_steps (
  id bigint not null generated always as identity,
  project_id bigint not null,
  journey_id bigint not null,
  external_id text not null,
  constraint journey_steps_pkey PRIMARY KEY (project_id, journey_id, id),
  constraint journey_steps_project_id_journey_id_external_id_key UNIQUE (project_id, journey_id, external_id),
  constraint journey_steps_project_id_journey_id_fkey FOREIGN KEY (project_id, journey_id) REFERENCES journeys(project_id, id) ON DELETE CASCADE
);

create table journey_sweeps (
  id bigint not null generated always as identity,
  project_id bigint not null,
  journey_id bigint not null,
  kind text not null,
  params jsonb not null default '{}'::jsonb,
  cursor jsonb,
  next_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null,
  constraint journey_sweeps_pkey PRIMARY KEY (project_id, id),
  constraint journey_sweeps_project_id_journey_id_fkey FOREIGN KEY (project_id, journey_id) REFERENCES journeys(project_id, id) ON DELETE CASCADE
);
CREATE INDEX journey_sweeps_by_journey ON journey_sweeps USING btree (project_id, journey_id);
CREATE INDEX journey_sweeps_due ON journey_sweeps USING btree (next_at);

create table journey_timers (
  project_id bigint not null,
  journey_id bigint not null,
  due_at timestamp(3) with time zone not null,
  user_id bigint not null,
  entrance_id bigint not null,
  visit integer not null,
  constraint journey_timers_pkey PRIMARY KEY (project_id, journey_id, due_at, user_id, entrance_id)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_cost_delay=0);

create table journey_users (
  project_id bigint not null,
  user_id bigint not null,
  journey_id bigint not null,
  entered integer not null default 0,
  completed integer not null default 0,
  exited integer not null default 0,
  active integer not null default 0,
  first_entered_at timestamp(3) with time zone,
  last_entered_at timestamp(3) with time zone,
  last_ended_at timestamp(3) with time zone,
  held_out_at timestamp(3) with time zone,
  goal_until timestamp(3) with time zone,
  last_outcome text,
  arm text,
  goals jsonb not null default '{}'::jsonb,
  constraint journey_users_pkey PRIMARY KEY (project_id, user_id, journey_id)
) with (fillfactor=80);
CREATE INDEX journey_users_by_journey ON journey_users USING btree (project_id, journey_id, user_id);

create table journey_versions (
  project_id bigint not null,
  journey_id bigint not null,
  version integer not null,
  status text not null,
  steps jsonb not null,
  settings jsonb not null default '{}'::jsonb,
  plan jsonb,
  note text,
  created_at timestamp(3) with time zone not null,
  published_at timestamp(3) with time zone,
  published_by text,
  constraint journey_versions_pkey PRIMARY KEY (project_id, journey_id, version),
  constraint journey_versions_project_id_journey_id_fkey FOREIGN KEY (project_id, journey_id) REFERENCES journeys(project_id, id) ON DELETE CASCADE,
  constraint journey_versions_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'live'::text, 'past'::text])))
);
CREATE UNIQUE INDEX journey_versions_draft ON journey_versions USING btree (project_id, journey_id) WHERE (status = 'draft'::text);
CREATE UNIQUE INDEX journey_versions_live ON journey_versions USING btree (project_id, journey_id) WHERE (status = 'live'::text);

create table journeys (
  id bigint not null generated always as identity,
  project_id bigint not null,
  name text not null,
  status text not null,
  description text,
  tags text[] not null default '{}'::text[],
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  archived_at timestamp(3) with time zone,
  live_version integer,
  drain_until timestamp(3) with time zone,
  is_held boolean not null default false,
  stats_at timestamp(3) with time zone,
  removed_secrets jsonb not null default '[]'::jsonb,
  constraint journeys_pkey PRIMARY KEY (project_id, id),
  constraint journeys_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint journeys_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'live'::text, 'off'::text])))
);
CREATE INDEX journeys_archived ON journeys USING btree (project_id, id) WHERE (archived_at IS NOT NULL);
CREATE INDEX journeys_by_project ON journeys USING btree (project_id, id) WHERE (archived_at IS NULL);
CREATE INDEX journeys_held ON journeys USING btree (project_id, id) WHERE is_held;

create table link_clicks (
  project_id bigint not null,
  link_id bigint not null,
  user_id bigint not null,
  clicks integer not null,
  machine_clicks integer not null,
  clicked_on date not null default CURRENT_DATE,
  constraint link_clicks_pkey PRIMARY KEY (project_id, link_id, user_id),
  constraint link_clicks_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
) with (fillfactor=85);
CREATE INDEX link_clicks_by_age ON link_clicks USING btree (project_id, clicked_on);
CREATE INDEX link_clicks_by_user ON link_clicks USING btree (project_id, user_id);

create table links (
  id bigint not null generated always as identity,
  project_id bigint not null,
  campaign_id bigint not null,
  position integer not null,
  url text not null,
  created_at timestamp(3) with time zone not null,
  former_clicks bigint not null default 0,
  former_users bigint not null default 0,
  former_bot_clicks bigint not null default 0,
  constraint links_pkey PRIMARY KEY (project_id, id),
  constraint links_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE UNIQUE INDEX links_by_campaign ON links USING btree (project_id, campaign_id, "position", md5(url));

create table list_build_parts (
  project_id bigint not null,
  version_id bigint not null,
  partition text not null default ''::text,
  after bigint not null,
  until bigint not null,
  constraint list_build_parts_pkey PRIMARY KEY (project_id, version_id, partition, after)
);

create table list_clocks (
  project_id bigint not null,
  checked_to timestamp(3) with time zone not null,
  constraint list_clocks_pkey PRIMARY KEY (project_id)
);

create table list_counts (
  project_id bigint not null,
  version_id bigint not null,
  partition smallint not null,
  members bigint not null,
  constraint list_counts_pkey PRIMARY KEY (project_id, version_id, partition)
);

create table list_days (
  project_id bigint not null,
  list_id bigint not null,
  day date not null,
  users bigint not null,
  constraint list_days_pkey PRIMARY KEY (project_id, list_id, day)
);
CREATE INDEX list_days_by_day ON list_days USING btree (project_id, day);

create table list_memberships (
  project_id bigint not null,
  version_id bigint not null,
  user_id bigint not null,
  is_member boolean not null,
  changed_at timestamp(3) with time zone not null,
  next_check_at timestamp(3) with time zone,
  constraint list_memberships_pkey PRIMARY KEY (project_id, user_id, version_id)
) with (fillfactor=85);
CREATE INDEX list_memberships_due ON list_memberships USING btree (project_id, next_check_at) WHERE (next_check_at IS NOT NULL);
CREATE INDEX list_memberships_members ON list_memberships USING btree (version_id, user_id) WHERE is_member;
CREATE INDEX list_memberships_others ON list_memberships USING btree (version_id) WHERE (NOT is_member);

create table list_versions (
  id bigint not null generated always as identity,
  project_id bigint not null,
  list_id bigint not null,
  rule jsonb,
  tracker_ids bigint[] not null default '{}'::bigint[],
  status text not null,
  scan jsonb,
  built_to bigint not null default 0,
  users_done bigint not null default 0,
  users_total bigint,
  created_at timestamp(3) with time zone not null,
  live_at timestamp(3) with time zone,
  ids_from bigint,
  ids_to bigint,
  constraint list_versions_pkey PRIMARY KEY (project_id, id),
  constraint list_versions_project_id_list_id_fkey FOREIGN KEY (project_id, list_id) REFERENCES lists(project_id, id),
  constraint list_versions_status_check CHECK ((status = ANY (ARRAY['filling'::text, 'building'::text, 'live'::text, 'archived'::text, 'retired'::text])))
);
CREATE INDEX list_versions_by_list ON list_versions USING btree (project_id, list_id, id);
CREATE INDEX list_versions_in_use ON list_versions USING btree (project_id, id) WHERE (status <> 'retired'::text);
CREATE INDEX list_versions_retired ON list_versions USING btree (id) WHERE (status = 'retired'::text);
CREATE INDEX list_versions_unfinished ON list_versions USING btree (project_id, id) WHERE (status = ANY (ARRAY['filling'::text, 'building'::text]));

create table lists (
  id bigint not null generated always as identity,
  project_id bigint not null,
  name text not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  archived_at timestamp(3) with time zone,
  type text not null,
  tags text[] not null default '{}'::text[],
  live_version_id bigint,
  constraint lists_pkey PRIMARY KEY (project_id, id),
  constraint lists_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint lists_project_id_live_version_id_fkey FOREIGN KEY (project_id, live_version_id) REFERENCES list_versions(project_id, id),
  constraint lists_type_check CHECK ((type = ANY (ARRAY['static'::text, 'dynamic'::text])))
);
CREATE INDEX lists_archived ON lists USING btree (project_id, id) WHERE (archived_at IS NOT NULL);

create table log_positions (
  log text not null,
  position bigint not null default 0,
  mover text not null,
  leased_until timestamp(3) with time zone not null,
  complete_to timestamp(3) with time zone not null,
  stored_at timestamp(3) with time zone,
  stored_at_position bigint,
  constraint log_positions_pkey PRIMARY KEY (log)
);

create table mail_messages (
  project_id bigint not null,
  id bigint not null,
  source text not null,
  priority smallint not null,
  campaign_id bigint,
  journey_id bigint,
  key_id bigint,
  mail_from text not null,
  return_domain text,
  rfc_message_id text not null,
  size integer not null,
  recipients smallint not null,
  needs_smtp_utf8 boolean not null default false,
  needs_8bit boolean not null default false,
  content bytea storage external,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  completed_at timestamp(3) with time zone,
  envelope_id text,
  returns text,
  is_deflated boolean not null default false,
  retry_minutes integer[],
  constraint mail_messages_pkey PRIMARY KEY (project_id, id),
  constraint mail_messages_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint mail_messages_returns_check CHECK ((returns = ANY (ARRAY['FULL'::text, 'HDRS'::text]))),
  constraint mail_messages_source_check CHECK ((source = ANY (ARRAY['message'::text, 'submission'::text, 'report'::text])))
);

create table mail_pauses (
  project_id bigint not null,
  scope text not null,
  value text not null,
  created_at timestamp(3) with time zone not null,
  constraint mail_pauses_pkey PRIMARY KEY (project_id, scope, value),
  constraint mail_pauses_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint mail_pauses_scope_check CHECK ((scope = ANY (ARRAY['project'::text, 'campaign'::text, 'site'::text])))
);

create table mail_processes (
  id uuid not null,
  sites jsonb not null,
  reported_at timestamp(3) with time zone not null,
  constraint mail_processes_pkey PRIMARY KEY (id)
);

create table mail_recipients (
  project_id bigint not null,
  mail_id bigint not null,
  no smallint not null,
  priority smallint not null,
  campaign_id bigint,
  size integer not null,
  address text not null,
  domain text not null,
  site text,
  state text not null default 'queued'::text,
  attempts smallint not null default 0,
  due_at timestamp(3) with time zone not null,
  is_held boolean not null default false,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  history jsonb not null default '[]'::jsonb,
  created_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  notify text[],
  original_recipient text,
  constraint mail_recipients_pkey PRIMARY KEY (project_id, mail_id, no),
  constraint mail_recipients_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint mail_recipients_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'claimed'::text, 'delivered'::text, 'failed'::text, 'expired'::text, 'cancelled'::text])))
) with (fillfactor=85);
CREATE INDEX mail_recipients_copies ON mail_recipients USING btree (project_id, lower((address COLLATE "C")), mail_id) WHERE ((campaign_id IS NOT NULL) AND (no > 0) AND (address <> ''::text));
CREATE INDEX mail_recipients_due ON mail_recipients USING btree (priority, project_id, due_at, mail_id, no) WHERE ((state = 'queued'::text) AND (NOT is_held));
CREATE INDEX mail_recipients_held ON mail_recipients USING btree (due_at) WHERE ((state = 'queued'::text) AND is_held);
CREATE INDEX mail_recipients_leased ON mail_recipients USING btree (lease_until) WHERE (state = 'claimed'::text);
CREATE INDEX mail_recipients_of_campaign ON mail_recipients USING btree (project_id, campaign_id, mail_id, no) WHERE ((state = 'queued'::text) AND (campaign_id IS NOT NULL));
CREATE INDEX mail_recipients_of_site ON mail_recipients USING btree (project_id, site, mail_id) WHERE (site IS NOT NULL);
CREATE INDEX mail_recipients_submitted ON mail_recipients USING btree (project_id, lower((address COLLATE "C")), mail_id) WHERE ((campaign_id IS NULL) AND (address <> ''::text));
CREATE INDEX mail_recipients_untried ON mail_recipients USING btree (project_id, size) WHERE ((state = 'queued'::text) AND (attempts = 0) AND (priority = 1));
CREATE INDEX mail_recipients_waiting ON mail_recipients USING btree (project_id, mail_id, no) WHERE (state = ANY (ARRAY['queued'::text, 'claimed'::text]));

create table mail_site_hours (
  project_id bigint not null,
  site text not null,
  hour timestamp(3) with time zone not null,
  delivered integer not null,
  deferred integer not null,
  bounced integer not null,
  complained integer not null default 0,
  constraint mail_site_hours_pkey PRIMARY KEY (project_id, site, hour),
  constraint mail_site_hours_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
) with (fillfactor=70);
CREATE INDEX mail_site_hours_by_age ON mail_site_hours USING btree (project_id, hour);

create table mail_sites (
  project_id bigint not null,
  site text not null,
  label text not null,
  limits jsonb,
  last_reply text,
  last_replied_at timestamp(3) with time zone,
  updated_at timestamp(3) with time zone not null,
  constraint mail_sites_pkey PRIMARY KEY (project_id, site),
  constraint mail_sites_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table member_challenges (
  challenge_hash text not null,
  member_id bigint,
  expires_at timestamp(3) with time zone not null,
  constraint member_challenges_pkey PRIMARY KEY (challenge_hash),
  constraint member_challenges_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id)
);
CREATE INDEX member_challenges_by_expiry ON member_challenges USING btree (expires_at);

create table member_identities (
  issuer text not null,
  subject text not null,
  member_id bigint not null,
  organization_id bigint not null,
  created_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone not null,
  constraint member_identities_pkey PRIMARY KEY (issuer, subject),
  constraint member_identities_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id),
  constraint member_identities_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organisations(id)
);
CREATE UNIQUE INDEX member_identities_by_member ON member_identities USING btree (member_id, issuer);

create table member_links (
  token_hash text not null,
  organization_id bigint not null,
  kind text not null,
  member_id bigint,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  constraint member_links_pkey PRIMARY KEY (token_hash),
  constraint member_links_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id),
  constraint member_links_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organisations(id),
  constraint member_links_check CHECK (((kind = 'owner'::text) = (member_id IS NULL))),
  constraint member_links_kind_check CHECK ((kind = ANY (ARRAY['owner'::text, 'invitation'::text, 'password'::text, 'operator'::text])))
);
CREATE INDEX member_links_by_member ON member_links USING btree (member_id, kind);

create table member_mails (
  id bigint not null generated always as identity,
  sealed text not null,
  attempts integer not null default 0,
  due_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null,
  constraint member_mails_pkey PRIMARY KEY (id)
);
CREATE INDEX member_mails_by_time ON member_mails USING btree (due_at);

create table member_passkeys (
  id bigint not null generated always as identity,
  member_id bigint not null,
  organization_id bigint not null,
  credential_id text not null,
  public_key text not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone,
  constraint member_passkeys_pkey PRIMARY KEY (id),
  constraint member_passkeys_credential_id_key UNIQUE (credential_id),
  constraint member_passkeys_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id),
  constraint member_passkeys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organisations(id)
);
CREATE INDEX member_passkeys_by_member ON member_passkeys USING btree (member_id, id);

create table member_recovery_codes (
  member_id bigint not null,
  organization_id bigint not null,
  code_hash text not null,
  constraint member_recovery_codes_pkey PRIMARY KEY (member_id, code_hash),
  constraint member_recovery_codes_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id),
  constraint member_recovery_codes_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organisations(id)
);

create table member_roles (
  project_id bigint not null,
  member_id bigint not null,
  role text not null,
  constraint member_roles_pkey PRIMARY KEY (project_id, member_id),
  constraint member_roles_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id),
  constraint member_roles_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint member_roles_role_check CHECK ((role = ANY (ARRAY['support'::text, 'smtpproxy'::text, 'editor'::text, 'publisher'::text, 'admin'::text])))
);
CREATE INDEX member_roles_by_member ON member_roles USING btree (member_id, project_id);

create table member_sessions (
  id bigint not null generated always as identity,
  member_id bigint not null,
  organization_id bigint not null,
  token_hash text not null,
  previous_hash text,
  previous_until timestamp(3) with time zone,
  is_renewal_due boolean not null default false,
  address text not null,
  user_agent text not null,
  created_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  id_token text,
  editing jsonb not null default '{}'::jsonb,
  constraint member_sessions_pkey PRIMARY KEY (id),
  constraint member_sessions_token_hash_key UNIQUE (token_hash),
  constraint member_sessions_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id),
  constraint member_sessions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organisations(id)
);
CREATE INDEX member_sessions_by_expiry ON member_sessions USING btree (expires_at);
CREATE INDEX member_sessions_by_member ON member_sessions USING btree (member_id, id);
CREATE INDEX member_sessions_by_previous ON member_sessions USING btree (previous_hash) WHERE (previous_hash IS NOT NULL);

create table members (
  id bigint not null generated always as identity,
  organization_id bigint not null,
  email text not null,
  name text not null,
  role text not null,
  password_hash text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  removed_at timestamp(3) with time zone,
  joined_at timestamp(3) with time zone,
  active_at timestamp(3) with time zone,
  totp_secret text,
  totp_confirmed_at timestamp(3) with time zone,
  totp_step bigint not null default 0,
  passkey_handle text,
  constraint members_pkey PRIMARY KEY (id),
  constraint members_passkey_handle_key UNIQUE (passkey_handle),
  constraint members_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organisations(id),
  constraint members_role_check CHECK ((role = ANY (ARRAY['member'::text, 'admin'::text, 'owner'::text])))
);
CREATE UNIQUE INDEX members_by_email ON members USING btree (email) WHERE (removed_at IS NULL);
CREATE INDEX members_by_organisation ON members USING btree (organization_id, id);

create table message_addresses (
  project_id bigint not null,
  campaign_id bigint not null,
  address_hash uuid not null,
  user_id bigint not null,
  constraint message_addresses_pkey PRIMARY KEY (project_id, campaign_id, address_hash)
);

create table message_attachments (
  project_id bigint not null,
  message_id bigint not null,
  position smallint not null,
  name text not null,
  content_type text not null,
  content_id text,
  content bytea not null,
  constraint message_attachments_pkey PRIMARY KEY (project_id, message_id, "position")
);

create table message_contents (
  id bigint not null generated always as identity,
  project_id bigint not null,
  channel text not null,
  hash text not null,
  locale text not null,
  data jsonb not null,
  compiled jsonb not null,
  created_at timestamp(3) with time zone not null,
  constraint message_contents_pkey PRIMARY KEY (project_id, id),
  constraint message_contents_project_id_channel_hash_key UNIQUE (project_id, channel, hash),
  constraint message_contents_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table message_counts (
  id bigint not null generated always as identity,
  project_id bigint not null,
  campaign_id bigint not null,
  variant smallint,
  state text not null,
  reason text,
  messages bigint not null,
  opens bigint not null,
  clicks bigint not null,
  day date,
  channel text,
  journey_id bigint not null default 0,
  unsubscribes bigint not null default 0,
  constraint message_counts_pkey PRIMARY KEY (project_id, campaign_id, id)
);
CREATE TRIGGER added_up AFTER DELETE ON message_counts REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION add_message_days();

create table message_days (
  project_id bigint not null,
  day date not null,
  campaign_id bigint not null,
  channel text not null,
  state text not null,
  messages bigint not null,
  opens bigint not null,
  clicks bigint not null,
  journey_id bigint not null default 0,
  unsubscribes bigint not null default 0,
  constraint message_days_pkey PRIMARY KEY (project_id, day, campaign_id, journey_id, state)
);

create table message_requests (
  project_id bigint not null,
  message_id bigint not null,
  key text,
  fingerprint text not null,
  sent_by bigint,
  locale text,
  content_id bigint,
  redact text[] not null default '{}'::text[],
  sealed text,
  created_at timestamp(3) with time zone not null,
  headers jsonb,
  attachments smallint not null default 0,
  attachment_bytes integer not null default 0,
  expires_after_minutes integer,
  constraint message_requests_pkey PRIMARY KEY (project_id, message_id),
  constraint message_requests_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX message_requests_by_content ON message_requests USING btree (project_id, content_id) WHERE (content_id IS NOT NULL);
CREATE UNIQUE INDEX message_requests_by_key ON message_requests USING btree (project_id, key) WHERE (key IS NOT NULL);
CREATE INDEX message_requests_by_sender ON message_requests USING btree (project_id, sent_by, message_id);

create table message_states (
  id bigint not null generated always as identity,
  project_id bigint not null,
  message_id bigint not null,
  state text not null,
  reason text,
  detail text,
  at timestamp(3) with time zone not null,
  constraint message_states_pkey PRIMARY KEY (project_id, message_id, id)
);

create table messages (
  id bigint not null generated always as identity,
  project_id bigint not null,
  user_id bigint not null,
  campaign_id bigint not null,
  channel text not null,
  cause text not null,
  event jsonb,
  state text not null default 'queued'::text,
  reason text,
  detail text,
  attempts integer not null default 0,
  due_at timestamp(3) with time zone not null,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  provider text,
  created_at timestamp(3) with time zone not null,
  settled_at timestamp(3) with time zone,
  priority smallint not null default 0,
  variant smallint,
  is_held boolean not null default false,
  is_erased boolean not null default false,
  counts_to_caps boolean not null default false,
  expires_at timestamp(3) with time zone,
  consent_id bigint,
  recipient text,
  provider_id bigint,
  provider_message_id text,
  opened_at timestamp(3) with time zone,
  clicked_at timestamp(3) with time zone,
  journey_id bigint,
  entrance_id bigint,
  step_id bigint,
  visit integer,
  step text,
  acted_at timestamp(3) with time zone,
  is_requested boolean not null default false,
  resent_from bigint,
  copies text[],
  uncertain_at timestamp(3) with time zone,
  constraint messages_pkey PRIMARY KEY (project_id, id),
  constraint messages_project_id_user_id_cause_key UNIQUE (project_id, user_id, cause),
  constraint messages_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint messages_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'claimed'::text, 'sent'::text, 'delivered'::text, 'deferred'::text, 'failed'::text, 'bounced'::text, 'complained'::text, 'skipped'::text, 'aborted'::text, 'unknown'::text])))
) with (fillfactor=85);
CREATE INDEX messages_by_campaign ON messages USING btree (project_id, campaign_id, id);
CREATE INDEX messages_by_provider_id ON messages USING btree (project_id, provider_message_id) WHERE (provider_message_id IS NOT NULL);
CREATE INDEX messages_due ON messages USING btree (priority, project_id, channel, due_at, id) WHERE ((state = ANY (ARRAY['queued'::text, 'deferred'::text])) AND (NOT is_held));
CREATE INDEX messages_leased ON messages USING btree (lease_until) WHERE (state = 'claimed'::text);
CREATE INDEX messages_rate_limited ON messages USING btree (project_id, ((- campaign_id)), priority, due_at, id) WHERE ((state = 'deferred'::text) AND (reason = 'rate_limited'::text) AND (NOT is_held));
CREATE INDEX messages_to_renew ON messages USING btree (project_id, ((- campaign_id))) WHERE ((state = 'aborted'::text) AND (reason = 'rescheduled'::text) AND (resent_from IS NOT NULL) AND (NOT is_erased));
CREATE TRIGGER count_inserted AFTER INSERT ON messages REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_messages();
CREATE TRIGGER count_updated AFTER UPDATE ON messages REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_messages();
CREATE TRIGGER outcomes_appended AFTER UPDATE ON messages REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION append_outcomes();
CREATE TRIGGER sealed_deleted AFTER UPDATE OF state ON messages FOR EACH ROW WHEN ((new.is_requested AND (new.state <> ALL (ARRAY['queued'::text, 'claimed'::text, 'deferred'::text])))) EXECUTE FUNCTION delete_sealed();
CREATE TRIGGER states_kept AFTER UPDATE OF state ON messages FOR EACH ROW WHEN (((new.state <> old.state) AND (NOT old.is_erased) AND ((old.state = ANY (ARRAY['sent'::text, 'delivered'::text, 'unknown'::text])) OR ((old.state = 'deferred'::text) AND (old.reason = ANY (ARRAY['provider_deferred'::text, 'quiet_hours'::text, 'frequency_cap'::text])))))) EXECUTE FUNCTION keep_left_state();

create table mta_sts_policies (
  domain text not null,
  policy jsonb not null,
  fetched_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint mta_sts_policies_pkey PRIMARY KEY (domain)
);
CREATE INDEX mta_sts_policies_expired ON mta_sts_policies USING btree (expires_at);

create table organisations (
  id bigint not null generated always as identity,
  name text not null,
  api_version text not null,
  created_at timestamp(3) with time zone not null,
  constraint organisations_pkey PRIMARY KEY (id)
);
CREATE CONSTRAINT TRIGGER credentials_of_organisation AFTER UPDATE OF api_version ON organisations DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_credentials_version();

create table page_themes (
  project_id bigint not null,
  brand_name text,
  logo_url text,
  accent_color text,
  footer_text text,
  updated_at timestamp(3) with time zone not null,
  constraint page_themes_pkey PRIMARY KEY (project_id),
  constraint page_themes_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table parked_items (
  id bigint not null generated always as identity,
  project_id bigint not null,
  kind text not null,
  request_id text not null,
  received_at timestamp(3) with time zone not null,
  item jsonb not null,
  reason text not null,
  parked_at timestamp(3) with time zone not null,
  constraint parked_items_pkey PRIMARY KEY (project_id, id)
);
CREATE INDEX parked_items_by_anonymous_id ON parked_items USING btree (project_id, hashtextextended((item ->> 'anonymous_id'::text), (0)::bigint)) WHERE (((item ->> 'anonymous_id'::text) IS NOT NULL) AND ((item ->> 'user_id'::text) IS NULL));

create table preflight_addresses (
  project_id bigint not null,
  preflight_id bigint not null,
  address_hash uuid not null,
  constraint preflight_addresses_pkey PRIMARY KEY (project_id, preflight_id, address_hash),
  constraint preflight_addresses_project_id_preflight_id_fkey FOREIGN KEY (project_id, preflight_id) REFERENCES campaign_preflights(project_id, id) ON DELETE CASCADE
);

create table projects (
  id bigint not null generated always as identity,
  organization_id bigint not null,
  name text not null,
  locale text not null,
  timezone text not null,
  description text,
  website_url text,
  text_opt_out_message text,
  text_help_message text,
  link_wrap_email boolean not null default false,
  link_wrap_push boolean not null default false,
  track_opens_email boolean,
  deeplink_mirror_url text not null default ''::text,
  api_version text not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  test_recipients text[] not null default '{}'::text[],
  deleted_at timestamp(3) with time zone,
  erased_at timestamp(3) with time zone,
  erase_due_at timestamp(3) with time zone,
  constraint projects_pkey PRIMARY KEY (id),
  constraint projects_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organisations(id)
);
CREATE INDEX projects_by_organisation ON projects USING btree (organization_id, id);
CREATE INDEX projects_to_erase ON projects USING btree (erase_due_at) WHERE (erase_due_at IS NOT NULL);
CREATE CONSTRAINT TRIGGER credentials_of_project AFTER UPDATE OF locale, timezone, api_version, deleted_at ON projects DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_credentials_version();

create table providers (
  id bigint not null generated always as identity,
  project_id bigint not null,
  name text not null,
  kind text not null,
  channel text not null,
  settings jsonb not null,
  sealed text,
  secret_names text[] not null default '{}'::text[],
  is_default boolean not null,
  rate_limit integer,
  rate_interval_seconds integer,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  archived_at timestamp(3) with time zone,
  segment_price jsonb,
  constraint providers_pkey PRIMARY KEY (project_id, id),
  constraint providers_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint providers_check CHECK (((rate_limit IS NULL) = (rate_interval_seconds IS NULL)))
);
CREATE INDEX providers_by_id ON providers USING btree (id);
CREATE INDEX providers_by_project ON providers USING btree (project_id, id) WHERE (archived_at IS NULL);
CREATE UNIQUE INDEX providers_default ON providers USING btree (project_id, channel) WHERE (is_default AND (archived_at IS NULL));

create table queue_batches (
  project_id bigint not null,
  id bigint not null generated always as identity,
  positions bigint[] not null,
  partitions bytea not null,
  created_at timestamp(3) with time zone not null,
  due_users bigint[] not null default '{}'::bigint[],
  due_partitions bytea not null default '\x'::bytea,
  constraint queue_batches_pkey PRIMARY KEY (project_id),
  constraint queue_batches_project_id_id_key UNIQUE (project_id, id)
);

create table queue_entries (
  position bigint not null generated always as identity,
  project_id bigint not null,
  kind text not null,
  user_id bigint,
  request_id text not null,
  received_at timestamp(3) with time zone not null,
  items integer not null,
  body bytea storage external not null,
  constraint queue_entries_pkey PRIMARY KEY (project_id, "position"),
  constraint queue_entries_kind_check CHECK ((kind = ANY (ARRAY['events'::text, 'users'::text, 'changes'::text, 'journeys'::text])))
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_cost_delay=0);
CREATE INDEX queue_entries_by_position ON queue_entries USING btree ("position");

create table queue_partitions (
  project_id bigint not null,
  batch_id bigint not null,
  partition smallint not null,
  constraint queue_partitions_pkey PRIMARY KEY (project_id, batch_id, partition),
  constraint queue_partitions_project_id_batch_id_fkey FOREIGN KEY (project_id, batch_id) REFERENCES queue_batches(project_id, id) ON DELETE CASCADE
);

create table quota_refusals (
  project_id bigint not null,
  quota text not null,
  refused integer not null,
  reported_at timestamp(3) with time zone not null,
  constraint quota_refusals_pkey PRIMARY KEY (project_id, quota),
  constraint quota_refusals_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table rate_buckets (
  project_id bigint not null,
  name text not null,
  tokens double precision not null,
  refilled_at timestamp(3) with time zone not null,
  grants jsonb not null default '[]'::jsonb,
  constraint rate_buckets_pkey PRIMARY KEY (project_id, name),
  constraint rate_buckets_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table rate_queues (
  project_id bigint not null,
  campaign_id bigint not null,
  priority smallint not null,
  channel text not null,
  next_at timestamp(3) with time zone not null,
  constraint rate_queues_pkey PRIMARY KEY (project_id, campaign_id, priority),
  constraint rate_queues_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX rate_queues_due ON rate_queues USING btree (priority, next_at);

create table retention_progress (
  project_id bigint not null,
  store text not null,
  looked_to bigint not null default 0,
  removed_to bigint not null default 0,
  removed_before timestamp(3) with time zone,
  passed_at timestamp(3) with time zone,
  constraint retention_progress_pkey PRIMARY KEY (project_id, store),
  constraint retention_progress_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table sandbox_faults (
  project_id bigint not null,
  bounce_percent smallint not null,
  complaint_percent smallint not null,
  soft_fail_percent smallint not null,
  delay_seconds smallint not null,
  updated_at timestamp(3) with time zone not null,
  constraint sandbox_faults_pkey PRIMARY KEY (project_id),
  constraint sandbox_faults_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table sandbox_messages (
  id bigint not null,
  project_id bigint not null,
  user_id bigint,
  campaign_id bigint,
  channel text not null,
  recipient text not null,
  summary text not null,
  content jsonb not null,
  created_at timestamp(3) with time zone not null,
  headers jsonb,
  source bytea,
  template_id bigint,
  constraint sandbox_messages_pkey PRIMARY KEY (project_id, id),
  constraint sandbox_messages_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX sandbox_messages_by_age ON sandbox_messages USING btree (project_id, created_at);
CREATE INDEX sandbox_messages_by_user ON sandbox_messages USING btree (project_id, user_id);

create table schema_migrations (
  version integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp(3) with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (version)
);

create table send_attempts (
  id bigint not null generated always as identity,
  project_id bigint not null,
  lease_token uuid not null,
  message_ids bigint[] not null,
  provider text not null,
  provider_id bigint,
  created_at timestamp(3) with time zone not null,
  counted boolean[],
  constraint send_attempts_pkey PRIMARY KEY (project_id, id),
  constraint send_attempts_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX send_attempts_by_lease ON send_attempts USING btree (project_id, lease_token);

create table sending_policies (
  project_id bigint not null,
  caps jsonb not null default '[]'::jsonb,
  quiet_hours jsonb,
  updated_at timestamp(3) with time zone not null,
  constraint sending_policies_pkey PRIMARY KEY (project_id),
  constraint sending_policies_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table sign_in_failures (
  email_hash text not null,
  failures integer not null,
  blocked_until timestamp(3) with time zone,
  failed_at timestamp(3) with time zone not null,
  constraint sign_in_failures_pkey PRIMARY KEY (email_hash)
);
CREATE INDEX sign_in_failures_by_time ON sign_in_failures USING btree (failed_at);

create table sign_in_redirects (
  state_hash text not null,
  binding_hash text not null,
  sealed text not null,
  expires_at timestamp(3) with time zone not null,
  constraint sign_in_redirects_pkey PRIMARY KEY (state_hash)
);
CREATE INDEX sign_in_redirects_by_expiry ON sign_in_redirects USING btree (expires_at);

create table soft_bounces (
  project_id bigint not null,
  address_hash text not null,
  label text not null,
  bounced_at timestamp(3) with time zone not null,
  id bigint not null generated always as identity,
  constraint soft_bounces_pkey PRIMARY KEY (project_id, address_hash, label, bounced_at, id),
  constraint soft_bounces_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX soft_bounces_by_age ON soft_bounces USING btree (project_id, bounced_at);

create table subscriptions (
  id bigint not null generated always as identity,
  project_id bigint not null,
  name text not null,
  channel text not null,
  is_public boolean not null,
  default_state smallint not null default 1,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  is_transactional boolean not null default false,
  requires_confirmation boolean not null default false,
  description text,
  constraint subscriptions_pkey PRIMARY KEY (project_id, id),
  constraint subscriptions_project_id_name_channel_key UNIQUE (project_id, name, channel),
  constraint subscriptions_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint subscriptions_default_state_check CHECK ((default_state = ANY (ARRAY[0, 1])))
);

create table suppression_keys (
  project_id bigint not null,
  sealed_key text not null,
  created_at timestamp(3) with time zone not null,
  constraint suppression_keys_pkey PRIMARY KEY (project_id),
  constraint suppression_keys_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table suppressions (
  id bigint not null generated always as identity,
  project_id bigint not null,
  channel text not null,
  address_hash text not null,
  address text,
  reason text not null,
  source jsonb not null default '{}'::jsonb,
  created_at timestamp(3) with time zone not null,
  stops_transactional boolean not null default true,
  constraint suppressions_pkey PRIMARY KEY (project_id, id),
  constraint suppressions_project_id_channel_address_hash_key UNIQUE (project_id, channel, address_hash),
  constraint suppressions_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint suppressions_reason_check CHECK ((reason = ANY (ARRAY['hard_bounce'::text, 'complaint'::text, 'manual'::text, 'unsubscribed_all'::text, 'erased'::text])))
);

create table template_attachments (
  id bigint not null generated always as identity,
  project_id bigint not null,
  template_id bigint not null,
  name text not null,
  content_type text not null,
  content_id text,
  content bytea storage external not null,
  updated_at timestamp(3) with time zone not null,
  constraint template_attachments_pkey PRIMARY KEY (project_id, id),
  constraint template_attachments_project_id_template_id_name_key UNIQUE (project_id, template_id, name),
  constraint template_attachments_project_id_template_id_fkey FOREIGN KEY (project_id, template_id) REFERENCES campaign_templates(project_id, id) ON DELETE CASCADE
);

create table template_versions (
  project_id bigint not null,
  template_id bigint not null,
  number integer not null,
  data jsonb not null,
  actor_type text,
  actor_id bigint,
  actor_name text,
  begun_at timestamp(3) with time zone not null,
  saved_at timestamp(3) with time zone not null,
  constraint template_versions_pkey PRIMARY KEY (project_id, template_id, number),
  constraint template_versions_project_id_template_id_fkey FOREIGN KEY (project_id, template_id) REFERENCES campaign_templates(project_id, id) ON DELETE CASCADE
);

create table tls_reports (
  project_id bigint not null,
  day timestamp(3) with time zone not null,
  domain text not null,
  urls text[] not null,
  next_at timestamp(3) with time zone,
  constraint tls_reports_pkey PRIMARY KEY (project_id, day, domain)
);
CREATE INDEX tls_reports_by_age ON tls_reports USING btree (day);
CREATE INDEX tls_reports_due ON tls_reports USING btree (next_at) WHERE (next_at IS NOT NULL);

create table tls_results (
  project_id bigint not null,
  id bigint not null generated always as identity,
  day timestamp(3) with time zone not null,
  domain text not null,
  policy text not null,
  result text not null,
  count bigint not null,
  hosts jsonb not null default '{}'::jsonb,
  constraint tls_results_pkey PRIMARY KEY (project_id, day, domain, policy, result)
);
CREATE INDEX tls_results_day ON tls_results USING btree (day);
CREATE UNIQUE INDEX tls_results_id ON tls_results USING btree (project_id, id);

create table traced_messages (
  project_id bigint not null,
  message_id bigint not null,
  request_id text not null,
  created_at timestamp(3) with time zone not null,
  constraint traced_messages_pkey PRIMARY KEY (project_id, message_id)
);
CREATE INDEX traced_messages_by_age ON traced_messages USING btree (created_at);

create table tracked_times (
  project_id bigint not null,
  tracker_id bigint not null,
  user_id bigint not null,
  times bigint[] not null,
  is_stale boolean not null default false,
  constraint tracked_times_pkey PRIMARY KEY (project_id, tracker_id, user_id)
) with (fillfactor=80);

create table usage_counters (
  project_id bigint not null,
  name text not null,
  period date not null,
  used bigint not null,
  constraint usage_counters_pkey PRIMARY KEY (project_id, name, period),
  constraint usage_counters_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX usage_counters_by_age ON usage_counters USING btree (project_id, period);

create table user_anonymous_ids (
  project_id bigint not null,
  anonymous_id text not null,
  user_id bigint not null,
  linked_at timestamp(3) with time zone not null,
  constraint user_anonymous_ids_pkey PRIMARY KEY (project_id, anonymous_id)
);
CREATE INDEX user_anonymous_ids_by_user ON user_anonymous_ids USING btree (project_id, user_id);

create table user_search (
  user_id bigint not null,
  project_id bigint not null,
  text text not null,
  constraint user_search_pkey PRIMARY KEY (project_id, user_id)
);
CREATE INDEX user_search_by_trigram ON user_search USING gin (text gin_trgm_ops);
CREATE INDEX user_search_not_ascii ON user_search USING btree (project_id, user_id) WHERE (octet_length(text) <> length(text));

create table user_subscriptions (
  project_id bigint not null,
  user_id bigint not null,
  subscription_id bigint not null,
  state smallint not null,
  updated_at timestamp(3) with time zone not null,
  consent_id bigint,
  constraint user_subscriptions_pkey PRIMARY KEY (project_id, user_id, subscription_id),
  constraint user_subscriptions_project_id_subscription_id_fkey FOREIGN KEY (project_id, subscription_id) REFERENCES subscriptions(project_id, id) ON DELETE CASCADE,
  constraint user_subscriptions_state_check CHECK ((state = ANY (ARRAY[0, 1, 2])))
);

create table users (
  id bigint not null generated by default as identity,
  project_id bigint not null,
  external_id text,
  anonymous_id text,
  email text,
  phone text,
  timezone text,
  locale text,
  data jsonb not null default '{}'::jsonb,
  has_push_device boolean not null default false,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  merged_into bigint,
  merged_at timestamp(3) with time zone,
  erase_requested_at timestamp(3) with time zone,
  constraint users_pkey PRIMARY KEY (project_id, id)
) with (fillfactor=85);
CREATE INDEX users_by_email ON users USING btree (project_id, lower((email COLLATE "C"))) WHERE (email IS NOT NULL);
CREATE UNIQUE INDEX users_by_external_id ON users USING btree (project_id, external_id) WHERE ((external_id IS NOT NULL) AND (erase_requested_at IS NULL));
CREATE INDEX users_by_merged_into ON users USING btree (project_id, merged_into) WHERE (merged_into IS NOT NULL);
CREATE INDEX users_by_phone ON users USING btree (project_id, phone) WHERE (phone IS NOT NULL);
CREATE INDEX users_by_project ON users USING btree (project_id, id) WHERE ((merged_into IS NULL) AND (erase_requested_at IS NULL));
CREATE INDEX users_merged ON users USING btree (project_id, merged_at) WHERE (merged_at IS NOT NULL);
CREATE INDEX users_sorted_by_created_at ON users USING btree (project_id, created_at, id) WHERE ((merged_into IS NULL) AND (erase_requested_at IS NULL));
CREATE INDEX users_sorted_by_email ON users USING btree (project_id, email, id) WHERE ((merged_into IS NULL) AND (erase_requested_at IS NULL));
CREATE INDEX users_sorted_by_external_id ON users USING btree (project_id, external_id, id) WHERE ((merged_into IS NULL) AND (erase_requested_at IS NULL));
CREATE INDEX users_to_erase ON users USING btree (erase_requested_at) WHERE (erase_requested_at IS NOT NULL);

create table warm_up_sites (
  project_id bigint not null,
  domain_id bigint not null,
  source_address text not null,
  site text not null,
  step smallint not null,
  day date not null,
  sent integer not null default 0,
  granted integer not null default 0,
  bounced integer not null default 0,
  deferred integer not null default 0,
  constraint warm_up_sites_pkey PRIMARY KEY (project_id, domain_id, source_address, site),
  constraint warm_up_sites_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table warm_ups (
  project_id bigint not null,
  domain_id bigint not null,
  is_active boolean not null,
  steps integer[] not null,
  bounce_percent_max real not null,
  deferral_percent_max real not null,
  is_per_address boolean not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint warm_ups_pkey PRIMARY KEY (project_id, domain_id),
  constraint warm_ups_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table webhook_attempts (
  id bigint not null generated always as identity,
  project_id bigint not null,
  delivery_id bigint not null,
  attempted_at timestamp(3) with time zone not null,
  elapsed_ms integer not null,
  status_code integer,
  error text,
  response_body text,
  constraint webhook_attempts_pkey PRIMARY KEY (project_id, delivery_id, id),
  constraint webhook_attempts_project_id_delivery_id_fkey FOREIGN KEY (project_id, delivery_id) REFERENCES webhook_deliveries(project_id, id) ON DELETE CASCADE
);

create table webhook_cursors (
  project_id bigint not null,
  endpoint_id bigint not null,
  position bigint not null,
  due_at timestamp(3) with time zone,
  looked_order bigint not null,
  constraint webhook_cursors_pkey PRIMARY KEY (project_id, endpoint_id),
  constraint webhook_cursors_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
) with (fillfactor=85);
CREATE INDEX webhook_cursors_due ON webhook_cursors USING btree (project_id, due_at) WHERE (due_at IS NOT NULL);

create table webhook_deliveries (
  id bigint not null generated always as identity,
  project_id bigint not null,
  endpoint_id bigint not null,
  event_id text not null,
  event_type text not null,
  status text not null,
  attempts integer not null default 0,
  schedule_step integer not null default 0,
  last_status_code integer,
  last_error text,
  next_attempt_at timestamp(3) with time zone,
  lease_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  constraint webhook_deliveries_pkey PRIMARY KEY (project_id, id),
  constraint webhook_deliveries_project_id_endpoint_id_event_id_key UNIQUE (project_id, endpoint_id, event_id),
  constraint webhook_deliveries_project_id_endpoint_id_fkey FOREIGN KEY (project_id, endpoint_id) REFERENCES webhook_endpoints(project_id, id),
  constraint webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text])))
) with (fillfactor=85);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries USING btree (created_at);
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries USING btree (project_id, endpoint_id, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries USING btree (project_id, endpoint_id, next_attempt_at, id) WHERE (status = 'pending'::text);

create table webhook_endpoints (
  id bigint not null generated always as identity,
  project_id bigint not null,
  name text not null,
  url text not null,
  status text not null,
  event_types text[] not null,
  description text,
  api_version text not null,
  consecutive_failures integer not null default 0,
  first_failure_at timestamp(3) with time zone,
  disabled_reason text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  archived_at timestamp(3) with time zone,
  constraint webhook_endpoints_pkey PRIMARY KEY (project_id, id),
  constraint webhook_endpoints_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint webhook_endpoints_status_check CHECK ((status = ANY (ARRAY['active'::text, 'inactive'::text, 'disabled'::text])))
);
CREATE INDEX webhook_endpoints_archived ON webhook_endpoints USING btree (id) WHERE (archived_at IS NOT NULL);
CREATE INDEX webhook_endpoints_by_project ON webhook_endpoints USING btree (project_id, id) WHERE (archived_at IS NULL);

create table webhook_event_subscriptions (
  project_id bigint not null,
  endpoint_id bigint not null,
  from_version bigint not null,
  to_version bigint,
  event_types text[] not null,
  ended_at timestamp(3) with time zone,
  constraint webhook_event_subscriptions_pkey PRIMARY KEY (project_id, endpoint_id, from_version),
  constraint webhook_event_subscriptions_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table webhook_events (
  id text not null,
  project_id bigint not null,
  type text not null,
  occurred_at timestamp(3) with time zone not null,
  data json not null,
  is_test boolean not null default false,
  version bigint not null,
  created_at timestamp(3) with time zone not null,
  position bigint,
  constraint webhook_events_pkey PRIMARY KEY (project_id, id),
  constraint webhook_events_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
CREATE INDEX webhook_events_by_age ON webhook_events USING btree (created_at);
CREATE INDEX webhook_events_by_type ON webhook_events USING btree (project_id, type, "position") WHERE ("position" IS NOT NULL);
CREATE INDEX webhook_events_to_number ON webhook_events USING btree (project_id, created_at, id) WHERE ("position" IS NULL);

create table webhook_hours (
  project_id bigint not null,
  endpoint_id bigint not null,
  hour timestamp(3) with time zone not null,
  succeeded integer not null,
  failed integer not null,
  constraint webhook_hours_pkey PRIMARY KEY (project_id, endpoint_id, hour),
  constraint webhook_hours_project_id_endpoint_id_fkey FOREIGN KEY (project_id, endpoint_id) REFERENCES webhook_endpoints(project_id, id) ON DELETE CASCADE
) with (fillfactor=85);

create table webhook_replays (
  id bigint not null generated always as identity,
  project_id bigint not null,
  endpoint_id bigint not null,
  event_types text[] not null,
  since timestamp(3) with time zone not null,
  until timestamp(3) with time zone not null,
  unaccepted_only boolean not null,
  status text not null,
  position bigint not null default 0,
  end_position bigint not null,
  deliveries integer not null default 0,
  due_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  open_transactions text[] not null default '{}'::text[],
  constraint webhook_replays_pkey PRIMARY KEY (project_id, id),
  constraint webhook_replays_project_id_endpoint_id_fkey FOREIGN KEY (project_id, endpoint_id) REFERENCES webhook_endpoints(project_id, id) ON DELETE CASCADE,
  constraint webhook_replays_status_check CHECK ((status = ANY (ARRAY['running'::text, 'finished'::text, 'cancelled'::text])))
);
CREATE INDEX webhook_replays_by_endpoint ON webhook_replays USING btree (project_id, endpoint_id, id);
CREATE INDEX webhook_replays_due ON webhook_replays USING btree (project_id, due_at, id) WHERE (due_at IS NOT NULL);
CREATE UNIQUE INDEX webhook_replays_running ON webhook_replays USING btree (project_id, endpoint_id) WHERE (status = 'running'::text);

create table webhook_secrets (
  id bigint not null generated always as identity,
  project_id bigint not null,
  endpoint_id bigint not null,
  sealed text not null,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone,
  constraint webhook_secrets_pkey PRIMARY KEY (project_id, id),
  constraint webhook_secrets_project_id_endpoint_id_fkey FOREIGN KEY (project_id, endpoint_id) REFERENCES webhook_endpoints(project_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_secrets_by_endpoint ON webhook_secrets USING btree (project_id, endpoint_id);

create table webhook_versions (
  project_id bigint not null,
  version bigint not null,
  event_types text[] not null,
  constraint webhook_versions_pkey PRIMARY KEY (project_id),
  constraint webhook_versions_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id)
);
