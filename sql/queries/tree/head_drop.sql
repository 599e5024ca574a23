-- SPDX-License-Identifier: GPL-3.0-or-later
-- Branch $2 of tree $1 is gone.
DELETE FROM head WHERE tree = $1 AND branch = $2
