-- Erasures and exports find submitted email, which is of no campaign, by the addresses of its recipients.
create index mail_recipients_submitted on mail_recipients (project_id, lower(address collate "C"), mail_id) where campaign_id is null and address <> '';
