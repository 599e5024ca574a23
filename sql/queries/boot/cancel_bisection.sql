-- SPDX-License-Identifier: GPL-3.0-or-later
-- Take back the boots that bisection $1 still waits for.
UPDATE boot SET state = 'cancelled' WHERE bisection = $1 AND state = 'wanted'
