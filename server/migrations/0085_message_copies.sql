-- Hashes of the addresses that got a copy (`cc`, `bcc`) of the message: a report about one of them is not about the recipient. Null without copies.
alter table messages add column copies text[];
