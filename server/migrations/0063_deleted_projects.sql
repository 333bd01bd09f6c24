-- A deleted project keeps its row, without what it said, so that its entries of the audit log and its keys still belong to something.
alter table projects
  add column deleted_at timestamptz(3),
  -- When everything of it was erased.
  add column erased_at timestamptz(3),
  -- When its data is erased next; null when there is nothing more to do.
  add column erase_due_at timestamptz(3);

-- Links of the operator are told from those that were mailed: they sign in where passwords do not.
alter table member_links
  drop constraint member_links_kind_check,
  add constraint member_links_kind_check check (kind in ('owner', 'invitation', 'password', 'operator'));

create index projects_to_erase on projects (erase_due_at) where erase_due_at is not null;
