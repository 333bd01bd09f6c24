-- When the email of a campaign is tried again, and for how long: {"after_minutes": [5, 15], "for_hours": 12}.
alter table campaigns add column mail_retries jsonb;

-- The minutes between the attempts of an email whose campaign has its own; null for those of its priority.
alter table mail_messages add column retry_minutes integer[];

-- How many of these results each mail host had, for failures: {"mx1.example.com": 3}.
alter table tls_results add column hosts jsonb not null default '{}';
