-- SPDX-License-Identifier: GPL-3.0-or-later
-- Until the end of the transaction no one else decides about the commit $1, nor about one that may be the same change under another
-- hash: those have its title and author.
SELECT pg_advisory_xact_lock(hashtextextended('culprit ' || author_mail || E'\n' || subject, 0)) FROM commit WHERE hash = $1
