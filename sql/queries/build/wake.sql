-- SPDX-License-Identifier: GPL-3.0-or-later
-- Build $1 ended: let go the boots that wait for it, and ask everyone open who may wait for its commit to look again.
WITH b AS (
	SELECT id, commit, state FROM build WHERE id = $1::bigint
), dropped AS (
	UPDATE boot SET state = 'cancelled' FROM b WHERE boot.build = b.id AND boot.state = 'wanted' AND b.state = 'failed'
), wanted AS (
	SELECT 'boot' AS kind, 'boot:' || boot.id AS dedupe, jsonb_build_object('boot', boot.id, 'group', job.group_name) AS payload
	FROM boot JOIN b ON boot.build = b.id JOIN job ON job.id = boot.job
	WHERE boot.state = 'wanted' AND b.state = 'ok'
	UNION ALL
	SELECT 'detect', 'detect:' || c.id, jsonb_build_object('comparison', c.id)
	FROM comparison c JOIN b ON b.commit IN (c.base, c.head) WHERE c.state = 'open'
	UNION ALL
	SELECT 'bisect', 'bisect:' || s.id, jsonb_build_object('bisection', s.id)
	FROM bisection s WHERE s.state IN ('queued', 'checking-ends', 'running', 'verifying')
)
INSERT INTO work (kind, dedupe, payload) SELECT kind, dedupe, payload FROM wanted
ON CONFLICT (dedupe) WHERE state IN ('ready', 'leased') DO UPDATE SET again = work.again OR work.state = 'leased'
