-- Messages of triggers that were finished while they were paused are held still. They are released, and end. Which triggers have some, the job finds out.
update campaigns set pending_action = 'release'
where type = 'trigger' and state = 'finished' and (pending_action is null or pending_action = 'hold');

-- Which of the messages count towards caps if their sender dies, in the order of `message_ids`. Null in records of earlier releases.
alter table send_attempts add column counted boolean[];
