-- SPDX-License-Identifier: GPL-3.0-or-later
-- A bisection may be asked for with a job that no tree uses, so its row may not be there yet. What a
-- job is comes from the configuration, never from the request.
GRANT INSERT, UPDATE (name) ON job TO kperfbot_web;
