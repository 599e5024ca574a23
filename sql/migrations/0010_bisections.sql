-- SPDX-License-Identifier: GPL-3.0-or-later
-- Bisections on several machines at once, and what people may ask of them while they run.

-- Machines that take boots beside the one in machine; each measures the good end itself first.
ALTER TABLE bisection ADD COLUMN machines text[] NOT NULL DEFAULT '{}';

-- Only this machine may take it; NULL: any that its comparison or bisection allows.
ALTER TABLE boot ADD COLUMN pinned text REFERENCES machine;

-- Cancel, extend and retry. What follows from them is done by role bisect.
GRANT UPDATE (state, result, finished, request, regression) ON bisection TO kperfbot_web;
