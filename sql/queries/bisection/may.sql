-- SPDX-License-Identifier: GPL-3.0-or-later
-- May token $2 change bisection $1: did it ask for it, or has it the scope bisect-admin? Columns: yes or no. No row: no such id.
SELECT asked_by = $2 OR EXISTS (SELECT FROM token WHERE id = $2 AND 'bisect-admin' = ANY (scopes)) FROM bisection WHERE id = $1
