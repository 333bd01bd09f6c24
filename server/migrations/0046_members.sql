-- Invitations, the second factor, and the emails of the console.
alter table members
  -- When the invitation was accepted; null before.
  add column joined_at timestamptz(3),
  -- When the member last used the console, to the minute.
  add column active_at timestamptz(3),
  -- The secret of one-time codes (RFC 6238), encrypted. It counts once it was confirmed.
  add column totp_secret text,
  add column totp_confirmed_at timestamptz(3),
  -- The time step of the last code, which cannot be used again.
  add column totp_step bigint not null default 0;
update members set joined_at = created_at;

create table member_recovery_codes (
  member_id bigint not null references members,
  organization_id bigint not null references organisations,
  code_hash text not null,
  primary key (member_id, code_hash)
);

-- Emails that wait to be sent. What they are about is encrypted, because it contains an address and perhaps a link.
create table member_mails (
  id bigint generated always as identity primary key,
  sealed text not null,
  attempts int not null default 0,
  due_at timestamptz(3) not null,
  created_at timestamptz(3) not null
);
create index member_mails_by_time on member_mails (due_at);
