-- Two characters are searched by the trigrams of ASCII texts; other texts, which are few, have this index.
create index user_search_not_ascii on user_search (project_id, user_id) where octet_length(text) <> length(text);
