-- SPDX-License-Identifier: GPL-3.0-or-later
-- What comparison $1 says about metric $2. Columns: purpose, base, head, the metric's verdict (jsonb, NULL: none), checks (jsonb, NULL:
-- none), base on one day (all its good boots began within 24 hours).
SELECT k.purpose, k.base, k.head,
	(SELECT m FROM jsonb_array_elements(CASE jsonb_typeof(k.evidence->'metrics') WHEN 'array' THEN k.evidence->'metrics'
		ELSE '[]' END) m WHERE m->>'name' = $2 LIMIT 1),
	(SELECT f->'checks' FROM jsonb_array_elements(CASE jsonb_typeof(k.evidence->'findings') WHEN 'array' THEN k.evidence->'findings'
		ELSE '[]' END) f WHERE f->>'headline' = $2 AND jsonb_typeof(f->'checks') = 'array' LIMIT 1),
	coalesce((SELECT max(b.started) - min(b.started) < interval '24 hours' FROM boot b
		WHERE b.comparison = k.id AND b.commit = k.base AND b.state = 'done' AND NOT b.excluded), false)
FROM comparison k WHERE k.id = $1::bigint
