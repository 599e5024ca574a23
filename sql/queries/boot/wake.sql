-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boot $1 ended: ask who wanted it to look again.
INSERT INTO work (kind, dedupe, payload)
SELECT 'detect', 'detect:' || comparison, jsonb_build_object('comparison', comparison)
FROM boot WHERE id = $1::bigint AND comparison IS NOT NULL
UNION ALL
SELECT 'bisect', 'bisect:' || bisection, jsonb_build_object('bisection', bisection)
FROM boot WHERE id = $1::bigint AND bisection IS NOT NULL
ON CONFLICT (dedupe) WHERE state IN ('ready', 'leased') DO UPDATE SET again = work.again OR work.state = 'leased'
