-- The last reply of a mail site could name its recipient. The next refusal sets it again.
update mail_sites set last_reply = null where last_reply is not null;

-- Links of content that was sent with a request had their whole addresses, which can name a user and stay when the user is erased. Their ids are in
-- emails and stay, so each keeps a text of its own: the site, and the id.
update links l
set url = concat(substring(l.url from '^\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?//'), substring(l.url from '^\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?//(?:[^/?#\\]*@)?([^/?#\\@]*)'), '#', l.id)
from campaigns c
where c.is_direct and l.project_id = c.project_id and l.campaign_id = c.id;

