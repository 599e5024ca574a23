-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boots that are waited for are few among all that ever were; which of them come before those of a bisection is asked at each of its
-- steps, and by each page that shows it.
CREATE INDEX boot_wanted ON boot (job) WHERE state = 'wanted';
