-- A campaign may say the same thing in several ways (`variant`), and what a template says is made ready to be filled in when
-- it is saved: `compiled` holds the members that take the place of those in `data`. Null until somebody needs it.
alter table campaign_templates
  add column variant smallint not null default 0 check (variant between 0 and 25),
  add column compiled jsonb,
  drop constraint campaign_templates_campaign_id_locale_key,
  add constraint campaign_templates_of_locale unique (campaign_id, locale, variant);

-- Only mails are made of anything.
update campaign_templates t set compiled = '{}' from campaigns c where c.id = t.campaign_id and c.channel <> 'email';
