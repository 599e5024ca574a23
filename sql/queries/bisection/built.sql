-- SPDX-License-Identifier: GPL-3.0-or-later
-- Which of the commits $2 (text[]) were built with kconfig hash $3 and compiler $4 after bisection $1 was asked for? Columns: commit.
SELECT commit FROM build
WHERE commit = ANY ($2::text[]) AND kconfig_hash = $3 AND compiler = $4 AND variant = ''
	AND finished >= (SELECT created FROM bisection WHERE id = $1)
