-- SPDX-License-Identifier: GPL-3.0-or-later
-- A change in series $1: $2 first commit of the new level, $3 last of the old one, $4 ratio, $5 p. What is known of it stays, its
-- size is as seen now; one that had gone away is back. One row: id, state.
INSERT INTO change_point (series, first, last, rel, p) VALUES ($1, $2, $3, $4::float8, $5::float8)
ON CONFLICT (series, first) DO UPDATE SET last = excluded.last, rel = excluded.rel, p = excluded.p, updated = now(),
	state = CASE change_point.state WHEN 'went-away' THEN 'seen' ELSE change_point.state END
RETURNING id, state
