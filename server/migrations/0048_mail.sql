-- The daily reports about TLS to the domains of recipients (RFC 8460). A row is a report that was queued, or a domain that asks for none.
create table tls_reports (
  project_id bigint not null,
  -- The start of the day that it is about, in UTC.
  day timestamptz(3) not null,
  domain text not null,
  -- The URLs that it is still to be posted to, and when that is tried next.
  urls text[] not null,
  next_at timestamptz(3),
  primary key (project_id, day, domain)
);

alter table tls_reports alter column project_id set (n_distinct = 10);
create index tls_reports_by_age on tls_reports (day);
create index tls_reports_due on tls_reports (next_at) where next_at is not null;

alter table mail_messages
  drop constraint mail_messages_source_check,
  add constraint mail_messages_source_check check (source in ('message', 'submission', 'report'));
