-- Processes keep the credentials of keys in memory, and look here whether any has changed. It is counted at the end of a transaction, so
-- that writers wait for each other only while they commit.
create table credentials_version (
  is_only boolean primary key default true check (is_only),
  version bigint not null
);

create function count_credentials_version() returns trigger language plpgsql as $$
begin
  insert into credentials_version (version) values (1)
  on conflict (is_only) do update set version = credentials_version.version + 1;
  return null;
end $$;

create constraint trigger credentials_of_key after update or delete on api_keys
  deferrable initially deferred for each row execute function count_credentials_version();

create constraint trigger credentials_of_project after update of locale, timezone, api_version, deleted_at on projects
  deferrable initially deferred for each row execute function count_credentials_version();

create constraint trigger credentials_of_organisation after update of api_version on organisations
  deferrable initially deferred for each row execute function count_credentials_version();
