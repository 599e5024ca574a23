-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boot $1 is not needed any more.
UPDATE boot SET state = 'cancelled' WHERE id = $1::bigint AND state = 'wanted'
