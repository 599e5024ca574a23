-- SPDX-License-Identifier: GPL-3.0-or-later
-- What kperfbot bisect replay reads of bisection $1; empty of a long range. Columns: text. No row: no such id.
SELECT coalesce(status->>'replay', '') FROM bisection WHERE id = $1
