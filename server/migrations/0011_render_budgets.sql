-- Messages whose template exceeded its budget, since a time; too many within an hour pause the campaign.
alter table campaigns
  add column paused_reason text check (paused_reason in ('render_budget')),
  add column over_budget int not null default 0,
  add column over_budget_since timestamptz(3);
