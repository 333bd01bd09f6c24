-- Messages of triggers that were finished while they were paused are held still. They are released, and end. Which triggers have some, the job finds out.
update campaigns set pending_action = 'release'
where type = 'trigger' and state = 'finished' and (pending_action is null or pending_action = 'hold');
