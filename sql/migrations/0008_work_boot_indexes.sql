-- SPDX-License-Identifier: GPL-3.0-or-later
-- A machine finds its next boot without a look at those of others, however many wait.
CREATE INDEX work_boot_group ON work ((payload->>'group'), prio DESC, run_at, id)
	WHERE state = 'ready' AND kind = 'boot' AND payload->>'machine' IS NULL;
CREATE INDEX work_boot_machine ON work ((payload->>'machine'), prio DESC, run_at, id)
	WHERE state = 'ready' AND kind = 'boot' AND payload->>'machine' IS NOT NULL;
