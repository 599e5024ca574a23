-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boot $1 ended under fence $2: $3 state, $4 class, $5 detail, $6 machine, $7 its boot id, $8 accelerator, $9 suite version,
-- $10 facts (JSON), $11 console, $12 seconds to boot, $13 seconds in all, $14 seconds from the agent's first message to the first
-- run ($5, $7 to $12 and $14 may be NULL). Its comparison has moved
-- to another machine: it does not count. One row: id. No row: it had ended before.
UPDATE boot SET state = $3, fence = $2::bigint, class = $4, detail = $5, machine = $6, machine_boot_id = $7, accel = $8,
	suite_version = $9, facts = $10::jsonb, console = $11, boot_s = $12::float8, took_s = $13::float8, setup_s = $14::float8,
	excluded = EXISTS (SELECT FROM comparison c WHERE c.id = boot.comparison AND c.machine <> $6),
	started = now() - $13::float8 * interval '1 s', finished = now()
WHERE id = $1::bigint AND state = 'wanted' RETURNING id
