-- Members who sign in with an OpenID provider. The provider names them by its issuer and a subject, which outlive an email address.
create table member_identities (
  issuer text not null,
  subject text not null,
  member_id bigint not null references members,
  organization_id bigint not null references organisations,
  created_at timestamptz(3) not null,
  used_at timestamptz(3) not null,
  primary key (issuer, subject)
);
-- An address that a provider gives to somebody else does not lead to the member.
create unique index member_identities_by_member on member_identities (member_id, issuer);

-- Sign-ins on their way to the provider and back.
create table sign_in_redirects (
  -- SHA-256 of the `state`.
  state_hash text primary key,
  -- SHA-256 of what only the browser knows that began.
  binding_hash text not null,
  -- The nonce and the code verifier, encrypted.
  sealed text not null,
  expires_at timestamptz(3) not null
);
create index sign_in_redirects_by_expiry on sign_in_redirects (expires_at);

-- The ID token of a session that a provider began, encrypted, for signing out there.
alter table member_sessions add column id_token text;
