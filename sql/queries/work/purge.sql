-- SPDX-License-Identifier: GPL-3.0-or-later
-- Forget finished rows older than $1 days. No columns.
DELETE FROM work WHERE finished < now() - $1::float8 * interval '1 day'
