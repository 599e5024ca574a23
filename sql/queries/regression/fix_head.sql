-- SPDX-License-Identifier: GPL-3.0-or-later
-- Head of tree $1, branch $2, which stays the head until the end of the transaction. Columns: commit. No row: there is none.
SELECT commit FROM head WHERE tree = $1 AND branch = $2 FOR SHARE
