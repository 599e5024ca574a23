-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boot $1 does not count.
UPDATE boot SET excluded = true WHERE id = $1::bigint
