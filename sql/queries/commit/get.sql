-- SPDX-License-Identifier: GPL-3.0-or-later
-- Commit $1. Columns: subject, author_name, author_mail, committer_name, committer_mail, parents[1], message,
-- commit_time as text.
SELECT subject, author_name, author_mail, committer_name, committer_mail, coalesce(parents[1], ''), message,
	to_char(commit_time, 'YYYY-MM-DD') FROM commit WHERE hash = $1
