-- SPDX-License-Identifier: GPL-3.0-or-later
-- Take back what machine $1 was offered with secret $2, with what its agent has sent. No row: it is gone, or
-- another offer is there.
DELETE FROM netboot WHERE machine = $1 AND secret = $2
