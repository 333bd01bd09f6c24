-- The copies of messages by their addresses, for erasures and exports. Few messages have any.
create index mail_recipients_copies on mail_recipients (project_id, lower(address collate "C"), mail_id)
  where campaign_id is not null and no > 0 and address <> '';
