-- SPDX-License-Identifier: GPL-3.0-or-later
-- Job $1. Columns: name, suite, test, params, metric, group_name, kconfig, thp, runs_per_boot, min_effect, timeout_s,
-- settings, aslr, monitors (JSON array), monitor_interval_s.
SELECT name, suite, test, params, metric, group_name, kconfig, thp, runs_per_boot, min_effect, timeout_s,
	settings, aslr, to_jsonb(monitors), monitor_interval_s
FROM job WHERE id = $1::bigint
