-- SPDX-License-Identifier: GPL-3.0-or-later
-- The row of a metric: $1 name, $2 unit, $3 better, $4 kind, $5 headline, $6 about. One row: id.
INSERT INTO metric (name, unit, better, kind, headline, about) VALUES ($1, $2, $3, $4, $5::boolean, $6)
ON CONFLICT (name) DO UPDATE SET unit = excluded.unit, better = excluded.better, kind = excluded.kind,
	headline = excluded.headline, about = excluded.about
RETURNING id
