-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs behind run $1 whose output can be read again, at most $2; of job $3, commit $4 (first digits), since $5 (each NULL: any).
-- Columns: id, boot, job, class, raw, errors, run_s, about (JSON), files (JSON object of names and artefacts).
SELECT r.id, r.boot, b.job, r.class, coalesce(r.raw, ''),
	coalesce((SELECT artefact FROM run_file f WHERE f.run = r.id AND f.name = 'stderr'), ''),
	coalesce(r.run_s, r.wall_s), coalesce(r.about, '{}'),
	coalesce((SELECT jsonb_object_agg(f.name, f.artefact) FROM run_file f WHERE f.run = r.id AND f.name LIKE 'monitor/%'), '{}')
FROM run r JOIN boot b ON b.id = r.boot JOIN job j ON j.id = b.job
WHERE r.id > $1::bigint AND r.class IN ('ok', 'parse') AND ($3::text IS NULL OR j.name = $3)
	AND ($4::text IS NULL OR b.commit LIKE $4 || '%') AND ($5::timestamptz IS NULL OR r.at >= $5::timestamptz)
ORDER BY r.id LIMIT $2::bigint
