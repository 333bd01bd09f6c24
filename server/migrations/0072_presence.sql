-- Which objects a session has open in an editor, by `<project>/<kind>/<id>`, each with when it was opened and when that was last said.
alter table member_sessions add column editing jsonb not null default '{}'::jsonb;
