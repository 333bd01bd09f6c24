-- Domains of senders. The host of a domain is that of its tracked links.
alter table domains
  -- The domain of From addresses, without which the domain is for links only.
  add column sending_domain text,
  -- Since when the records that sending needs have been found. Null: they are not.
  add column sending_verified_at timestamptz(3),
  -- What is missing, in a sentence.
  add column sending_problem text,
  -- The policy of DMARC asks for the same domain in From and in the signature (RFC 7489, `adkim=s`).
  add column is_strict boolean not null default false,
  -- Whether bounces to `bounce.<sending_domain>` come here.
  add column has_return_path boolean not null default false,
  -- What the last check found: one object for each record.
  add column records jsonb not null default '[]',
  -- The company that the DNS of the sending domain is at.
  add column dns_host text,
  -- The checks in a row that did not find what is needed.
  add column failed_checks smallint not null default 0,
  add column next_check_at timestamptz(3) not null default now();
create unique index domains_sending on domains (project_id, sending_domain) where sending_domain is not null;
create index domains_to_check on domains (next_check_at);

-- Key pairs that sign the email of a sending domain.
create table dkim_keys (
  project_id bigint not null references projects,
  domain_id bigint not null,
  -- The public half is published at `<selector>._domainkey.<sending_domain>`.
  selector text not null,
  algorithm text not null check (algorithm in ('rsa-sha256', 'ed25519-sha256')),
  public_key text not null,
  private_key_sealed text not null,
  -- `pending` until its record is found; `active` keys sign; `retired` ones stay published while email that they signed is on its way.
  state text not null default 'pending' check (state in ('pending', 'active', 'retired')),
  created_at timestamptz(3) not null,
  retired_at timestamptz(3),
  primary key (project_id, domain_id, selector)
);
alter table dkim_keys alter column project_id set (n_distinct = 10);
