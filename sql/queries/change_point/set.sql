-- SPDX-License-Identifier: GPL-3.0-or-later
-- A change in series $1: $2 first commit of the new level, $3 last of the old one, $4 ratio, $5 p. What is known of it stays, its
-- size is as seen now; one that had gone away is back, and one that was not confirmed keeps its size until it is half as large
-- again: then it is a new suspicion. One row: id, state.
INSERT INTO change_point AS c (series, first, last, rel, p) VALUES ($1, $2, $3, $4::float8, $5::float8)
ON CONFLICT (series, first) DO UPDATE SET last = excluded.last, p = excluded.p, updated = now(),
	rel = CASE WHEN c.state IN ('refuted', 'unconfirmed') AND abs(excluded.rel) <= 1.5 * abs(c.rel) THEN c.rel ELSE excluded.rel END,
	state = CASE WHEN c.state = 'went-away' OR c.state IN ('refuted', 'unconfirmed') AND abs(excluded.rel) > 1.5 * abs(c.rel)
		THEN 'seen' ELSE c.state END
RETURNING id, state
