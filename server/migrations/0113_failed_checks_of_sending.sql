-- The failed checks in a row of what a domain needs for sending. `failed_checks` is of its links alone. Releases before that count both there.
alter table domains add column failed_sending_checks integer not null default 0;
