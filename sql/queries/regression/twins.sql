-- SPDX-License-Identifier: GPL-3.0-or-later
-- Culprits of other regressions that may be commit $1 under another hash: title and author are the same. At most 10, the first
-- found first. Columns: hash.
SELECT t.hash FROM commit c JOIN commit t ON t.subject = c.subject AND t.author_mail = c.author_mail AND t.hash <> c.hash
	JOIN regression r ON r.culprit = t.hash
WHERE c.hash = $1 AND r.state <> 'dup'
GROUP BY t.hash ORDER BY min(r.created), t.hash LIMIT 10
