-- Members sign in to the console. A member belongs to one organisation, has a role there, and may have a role in each of its projects.
create table members (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organisations,
  -- In lower case: two spellings of an address are one member.
  email text not null,
  name text not null,
  role text not null check (role in ('member', 'admin', 'owner')),
  -- Argon2id in the PHC format. Null for members who sign in without a password.
  password_hash text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- Removed members keep their row, because what they did names them.
  removed_at timestamptz(3)
);
create unique index members_by_email on members (email) where removed_at is null;
create index members_by_organisation on members (organization_id, id);

-- Admins and owners of the organisation are `admin` in every project and have no rows here.
create table member_roles (
  project_id bigint not null references projects,
  member_id bigint not null references members,
  role text not null check (role in ('support', 'smtpproxy', 'editor', 'publisher', 'admin')),
  primary key (project_id, member_id)
);
alter table member_roles alter column project_id set (n_distinct = 10);
create index member_roles_by_member on member_roles (member_id, project_id);

create table member_sessions (
  id bigint generated always as identity primary key,
  member_id bigint not null references members,
  organization_id bigint not null references organisations,
  -- SHA-256 of the token in the cookie.
  token_hash text not null unique,
  -- The token before the last renewal, which requests that were on their way still have.
  previous_hash text,
  previous_until timestamptz(3),
  -- The next request gets a new token.
  is_renewal_due boolean not null default false,
  address text not null,
  user_agent text not null,
  created_at timestamptz(3) not null,
  used_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create index member_sessions_by_member on member_sessions (member_id, id);
create index member_sessions_by_previous on member_sessions (previous_hash) where previous_hash is not null;
create index member_sessions_by_expiry on member_sessions (expires_at);

-- Links that can be used once: they create the owner, accept an invitation, or set a new password.
create table member_links (
  token_hash text primary key,
  organization_id bigint not null references organisations,
  kind text not null check (kind in ('owner', 'invitation', 'password')),
  -- Null for the link that creates the owner.
  member_id bigint references members,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  check ((kind = 'owner') = (member_id is null))
);
create index member_links_by_member on member_links (member_id, kind);

-- Failed sign-ins by the hash of the address that was typed, whether a member has it or not.
create table sign_in_failures (
  email_hash text primary key,
  failures int not null,
  blocked_until timestamptz(3),
  failed_at timestamptz(3) not null
);
create index sign_in_failures_by_time on sign_in_failures (failed_at);

-- What a member does in a project is done with a key of the member there, which has no value: nothing can authenticate with it.
alter table api_keys add column member_id bigint references members;
create unique index api_keys_of_member on api_keys (member_id, coalesce(project_id, 0)) where member_id is not null and archived_at is null;
