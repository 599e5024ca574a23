-- SPDX-License-Identifier: GPL-3.0-or-later
-- Values of metric $2 that the last 300 boots of job $1 gave, on machines of its group, with the newest suite and accelerator. What
-- stands together is of one machine, commit and boot. Columns: machine, commit, boot, value.
WITH b AS (
	SELECT boot.id, boot.machine, boot.commit, boot.finished,
		concat_ws(' ', boot.suite_version, split_part(boot.accel, ' ', 1)) AS made_by
	FROM boot JOIN job j ON j.id = boot.job JOIN machine m ON m.name = boot.machine AND m.group_name = j.group_name
	WHERE boot.job = $1::bigint AND boot.state = 'done' AND NOT boot.excluded AND boot.purpose = 'measure'
	ORDER BY boot.finished DESC LIMIT 300),
newest AS (SELECT made_by FROM b ORDER BY finished DESC LIMIT 1)
SELECT b.machine, b.commit, b.id, v.value FROM b JOIN newest USING (made_by) JOIN run_metric v ON v.boot = b.id
WHERE v.metric = $2 ORDER BY b.machine, b.commit, b.id, v.run
