-- SPDX-License-Identifier: GPL-3.0-or-later
-- Values of metric $2 in good runs of the boots $1 (bigint[]). Columns: boot, value.
SELECT boot, value FROM run_metric WHERE boot = ANY ($1::bigint[]) AND metric = $2 ORDER BY run
