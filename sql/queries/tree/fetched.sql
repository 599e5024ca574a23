-- SPDX-License-Identifier: GPL-3.0-or-later
-- Tree $1 was fetched ($2 NULL) or could not be ($2 reason). One row: failures in a row.
UPDATE tree SET last_try = now(), last_ok = CASE WHEN $2::text IS NULL THEN now() ELSE last_ok END,
	failures = CASE WHEN $2::text IS NULL THEN 0 ELSE failures + 1 END, last_error = $2
WHERE name = $1 RETURNING failures
