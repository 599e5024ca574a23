-- SPDX-License-Identifier: GPL-3.0-or-later
-- What things take in the group of job $1, from its last builds and boots: seconds, NULL without any. $2 variant of its builds.
-- Columns: a build from scratch (95 %), one beside the last (median), builds, a boot without its runs (median), boots, a run (median), runs.
-- One row.
WITH j AS (SELECT id, group_name, kconfig FROM job WHERE id = $1::bigint),
builds AS (
	SELECT took_s FROM build WHERE kconfig = (SELECT kconfig FROM j) AND state = 'ok' AND variant = $2 AND took_s > 0
	ORDER BY finished DESC LIMIT 100),
boots AS (
	SELECT b.id, b.took_s FROM boot b JOIN machine m ON m.name = b.machine JOIN j ON m.group_name = j.group_name
	WHERE b.job = j.id AND b.state = 'done' AND NOT b.excluded AND b.took_s > 0
	ORDER BY b.finished DESC LIMIT 100),
-- A guest may keep a time of its own (QEMU -icount): its runs cannot take longer than the boot that they are part of.
runs AS (
	SELECT r.boot, r.wall_s * least(1, boots.took_s / sum(r.wall_s) OVER (PARTITION BY r.boot)) AS wall_s
	FROM run r JOIN boots ON boots.id = r.boot WHERE r.wall_s > 0),
bare AS (
	SELECT greatest(b.took_s - coalesce((SELECT sum(r.wall_s) FROM runs r WHERE r.boot = b.id), 0), 0) AS s FROM boots b)
SELECT (SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY took_s) FROM builds),
	(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY took_s) FROM builds), (SELECT count(*) FROM builds),
	(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s) FROM bare), (SELECT count(*) FROM bare),
	(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY wall_s) FROM runs), (SELECT count(*) FROM runs)
