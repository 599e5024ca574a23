-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boot $1 on machine $2 was good, so the machine is not why others failed there: failures of the classes $3 (text[]) speak about
-- their kernels now; one of its own build as well, which at least does not fail each time. Whoever wanted them looks again. Columns: boot.
WITH proven AS (
	UPDATE boot SET control_boot = $1::bigint
	WHERE machine = $2 AND state = 'failed' AND class = ANY ($3::text[]) AND control_boot IS NULL AND NOT excluded
	RETURNING id, comparison, bisection
), wake AS (
	INSERT INTO work (kind, dedupe, payload)
	SELECT DISTINCT 'detect', 'detect:' || comparison, jsonb_build_object('comparison', comparison)
	FROM proven WHERE comparison IS NOT NULL
	UNION ALL
	SELECT DISTINCT 'bisect', 'bisect:' || bisection, jsonb_build_object('bisection', bisection)
	FROM proven WHERE bisection IS NOT NULL
	ON CONFLICT (dedupe) WHERE state IN ('ready', 'leased') DO UPDATE SET again = work.again OR work.state = 'leased'
)
SELECT id FROM proven
