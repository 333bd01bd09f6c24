-- Passkeys (WebAuthn) of members. A member may have several.
create table member_passkeys (
  id bigint generated always as identity primary key,
  member_id bigint not null references members,
  organization_id bigint not null references organisations,
  -- As browsers name it, in base64url. A credential signs in one member.
  credential_id text not null unique,
  -- In COSE, as base64url.
  public_key text not null,
  -- How often the authenticator has signed; 0 from those that do not count.
  sign_count bigint not null,
  -- How browsers reach the authenticator, such as `internal` and `usb`.
  transports text[] not null,
  name text not null,
  created_at timestamptz(3) not null,
  used_at timestamptz(3)
);
create index member_passkeys_by_member on member_passkeys (member_id, id);

-- What an authenticator has to sign, once and within minutes.
create table member_challenges (
  challenge_hash text primary key,
  -- Null for a sign-in, which has no member before.
  member_id bigint references members,
  expires_at timestamptz(3) not null
);
create index member_challenges_by_expiry on member_challenges (expires_at);

-- What authenticators know the member by: random, because it says nothing about the member.
alter table members add column passkey_handle text unique;
