-- Contents of emails are deflated before they are stored. Those that wait already are as they are.
alter table mail_messages add column is_deflated boolean not null default false;
