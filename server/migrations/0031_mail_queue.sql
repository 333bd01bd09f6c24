-- Emails that this server delivers itself, with their content once for all recipients. The id is that of the message; an email that was
-- submitted over SMTP has the next one of the same sequence. The row stays when nothing is pending, without the content.
create table mail_messages (
  project_id bigint not null references projects,
  id bigint not null,
  source text not null check (source in ('message', 'submission')),
  priority smallint not null,
  campaign_id bigint,
  journey_id bigint,
  -- The key that submitted it.
  key_id bigint,
  -- The sender, and the domain of return paths; without one, what bounces is returned to the sender.
  mail_from text not null,
  return_domain text,
  rfc_message_id text not null,
  size int not null,
  recipients smallint not null,
  needs_smtp_utf8 boolean not null default false,
  needs_8bit boolean not null default false,
  content bytea,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  -- When no recipient was pending any more.
  completed_at timestamptz(3),
  primary key (project_id, id)
);
-- Composed emails are base64 or quoted-printable text, which is read once: compressing it costs more than it saves.
alter table mail_messages alter column content set storage external;

-- One row for each recipient of an email.
create table mail_recipients (
  project_id bigint not null references projects,
  mail_id bigint not null,
  no smallint not null,
  priority smallint not null,
  campaign_id bigint,
  size int not null,
  -- Empty once the user was erased.
  address text not null,
  domain text not null,
  -- The set of mail hosts, once they were looked up.
  site text,
  state text not null default 'queued' check (state in ('queued', 'claimed', 'delivered', 'failed', 'expired', 'cancelled')),
  attempts smallint not null default 0,
  due_at timestamptz(3) not null,
  -- Its campaign, its site or the project is paused.
  is_held boolean not null default false,
  lease_token uuid,
  lease_until timestamptz(3),
  -- The attempts, oldest first: when, which host, its reply, and what followed.
  history jsonb not null default '[]',
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  primary key (project_id, mail_id, no)
) with (fillfactor = 85);
create index mail_recipients_due on mail_recipients (priority, project_id, due_at, mail_id, no) where state = 'queued' and not is_held;
create index mail_recipients_leased on mail_recipients (lease_until) where state = 'claimed';
-- The email of a blast that had no attempt yet: there is a limit, beyond which further messages wait to be rendered.
create index mail_recipients_untried on mail_recipients (project_id, size) where state = 'queued' and attempts = 0 and priority = 1;
create index mail_recipients_of_campaign on mail_recipients (project_id, campaign_id, mail_id, no) where state = 'queued' and campaign_id is not null;
create index mail_recipients_waiting on mail_recipients (project_id, mail_id, no) where state in ('queued', 'claimed');
create index mail_recipients_of_site on mail_recipients (project_id, site, mail_id) where site is not null;

-- What is not delivered at present: all email of the project, that of a campaign, or that to a site.
create table mail_pauses (
  project_id bigint not null references projects,
  scope text not null check (scope in ('project', 'campaign', 'site')),
  -- The id of the campaign, or the site.
  value text not null,
  created_at timestamptz(3) not null,
  primary key (project_id, scope, value)
);

alter table mail_messages alter column project_id set (n_distinct = 10);
alter table mail_recipients alter column project_id set (n_distinct = 10);
alter table mail_pauses alter column project_id set (n_distinct = 10);
