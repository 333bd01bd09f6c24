-- What members call an attribute, and whether it says who a user is.
alter table attributes add column label text;
alter table attributes add column is_personal boolean not null default false;
