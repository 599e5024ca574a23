-- SPDX-License-Identifier: GPL-3.0-or-later
-- The control boot that machine $1 waits for is to be made now, before all others. One row: the boot. No row: it waits for none.
UPDATE work SET run_at = least(run_at, now()), prio = greatest(prio, 10), payload = payload || '{"reason": "asked"}'
WHERE dedupe = 'control:' || $1 AND state IN ('ready', 'leased') RETURNING payload->>'boot'
