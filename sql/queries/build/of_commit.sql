-- SPDX-License-Identifier: GPL-3.0-or-later
-- Compilers of the good builds of commit $1, newest first. Columns: compiler.
SELECT compiler FROM build WHERE commit = $1 AND state = 'ok' ORDER BY finished DESC LIMIT 1
