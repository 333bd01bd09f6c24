-- Triggers that were finished while they were paused have messages and email that are held still. They are withdrawn. Email that a pause of the mail
-- queue holds is not among them, and triggers without a message that waits are left out before their messages are read.
update campaigns c set pending_action = 'withdraw'
where type = 'trigger' and state = 'finished' and pending_action is distinct from 'withdraw'
  and (pending_action = 'hold'
       or (coalesce((select sum(n.messages) from message_counts n
                     where n.project_id = c.project_id and n.campaign_id = c.id and n.state in ('queued', 'deferred')), 0) > 0
           and exists (select 1 from messages m
                       where m.project_id = c.project_id and m.campaign_id = c.id and m.state in ('queued', 'deferred') and m.is_held))
       or exists (select 1 from mail_recipients r
                  where r.project_id = c.project_id and r.campaign_id = c.id and r.state = 'queued' and r.is_held
                    and not exists (select 1 from mail_pauses p
                                    where p.project_id = r.project_id
                                      and ((p.scope = 'project') or (p.scope = 'site' and p.value = r.site)
                                           or (p.scope = 'campaign' and p.value = r.campaign_id::text)))));

-- Which of the messages count towards caps if their sender dies, in the order of `message_ids`. Null in records of earlier releases.
alter table send_attempts add column counted boolean[];
