-- SPDX-License-Identifier: GPL-3.0-or-later
-- Bisection $1 is one more try for the regression of its request, if none has it and it still waits for one. One row: id. No row: it is not.
UPDATE bisection SET regression = request->>'regression' WHERE id = $1 AND regression IS NULL
	AND NOT EXISTS (SELECT FROM bisection o WHERE o.regression = bisection.request->>'regression')
	AND EXISTS (SELECT FROM regression r WHERE r.id = bisection.request->>'regression' AND r.state = 'confirmed')
RETURNING id
