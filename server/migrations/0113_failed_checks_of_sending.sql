-- The failed checks in a row of what a domain needs for sending. `failed_checks` is of its links alone. Releases before that counted both there:
-- which of them failed is not known, so both begin anew.
alter table domains add column failed_sending_checks integer not null default 0;
update domains set failed_checks = 0 where failed_checks > 0;
