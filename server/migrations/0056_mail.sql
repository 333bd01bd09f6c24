-- The parameters of delivery notifications of SMTP clients (RFC 3461): the id of the email, and what reports shall return.
alter table mail_messages
  add column envelope_id text,
  add column returns text check (returns in ('FULL', 'HDRS'));

-- The reports that are asked for about a recipient, and the address as the client was given it. Empty once the user was erased.
alter table mail_recipients
  add column notify text[],
  add column original_recipient text;

-- How strictly DMARC compares the return path with From, once SPF passes there; null while it does not.
alter table domains add column spf_alignment text check (spf_alignment in ('relaxed', 'strict'));
