-- Complaints of recipients at a site, by the hour in which they were reported.
alter table mail_site_hours add column complained int not null default 0;
