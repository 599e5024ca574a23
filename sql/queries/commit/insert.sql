-- SPDX-License-Identifier: GPL-3.0-or-later
-- A commit met; once. $1 hash, $2 parents (text[]), $3 subject, $4 author name, $5 mail, $6 time (Unix seconds),
-- $7 committer name, $8 mail, $9 time, $10 message as git has it.
INSERT INTO commit (hash, parents, subject, author_name, author_mail, author_time,
	committer_name, committer_mail, commit_time, message)
VALUES ($1, $2::text[], $3, $4, $5, to_timestamp($6::bigint), $7, $8, to_timestamp($9::bigint), $10::bytea)
ON CONFLICT (hash) DO NOTHING
