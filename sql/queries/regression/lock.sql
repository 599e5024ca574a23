-- SPDX-License-Identifier: GPL-3.0-or-later
-- Until the end of the transaction no one else decides about the commit $1.
SELECT hash FROM commit WHERE hash = $1 FOR NO KEY UPDATE
