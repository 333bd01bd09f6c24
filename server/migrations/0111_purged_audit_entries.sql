-- Up to which position the entries of a chain were deleted by age, so that the check knows which ones must be there. A server of an earlier release that
-- deletes entries meanwhile does not note it: the check names the oldest entry that is left until the next one is deleted.
alter table audit_chains add column purged_position bigint not null default 0;
update audit_chains c
set purged_position = coalesce(
  case
    when c.project_id = 0 then
      (select min(e.position) - 1 from audit_entries e where e.project_id is null and e.organization_id = c.organization_id)
    else
      (select min(e.position) - 1 from audit_entries e where e.project_id = c.project_id and e.organization_id = c.organization_id)
  end,
  c.position
);
