-- SPDX-License-Identifier: GPL-3.0-or-later
-- First line of the history of regression $1: $2 why.
INSERT INTO regression_history (regression, to_state, by, why) VALUES ($1, 'bisecting', 'kperfbot', $2)
