-- SPDX-License-Identifier: GPL-3.0-or-later
-- The rows of metrics: $1 JSON array of {name, unit, better, kind, headline, about}. In the order of the array.
-- Columns: id.
WITH given AS (
	SELECT g.name, g.unit, g.better, g.kind, g.headline, g.about, o.n
	FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY o (j, n),
		jsonb_to_record(o.j) AS g (name text, unit text, better text, kind text, headline boolean, about text)
), kept AS (
	INSERT INTO metric (name, unit, better, kind, headline, about)
	SELECT name, unit, better, kind, headline, about FROM given g
	WHERE NOT EXISTS (SELECT FROM metric m WHERE (m.name, m.unit, m.better, m.kind, m.headline, m.about)
		= (g.name, g.unit, g.better, g.kind, g.headline, g.about))
	ORDER BY name
	ON CONFLICT (name) DO UPDATE SET unit = excluded.unit, better = excluded.better, kind = excluded.kind,
		headline = excluded.headline, about = excluded.about
	RETURNING id, name
)
SELECT coalesce(k.id, m.id) FROM given g LEFT JOIN kept k USING (name) LEFT JOIN metric m USING (name) ORDER BY g.n
