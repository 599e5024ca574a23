-- SPDX-License-Identifier: GPL-3.0-or-later
-- A configured machine: $1 name, $2 group, $3 driver.
INSERT INTO machine (name, group_name, driver, last_seen) VALUES ($1, $2, $3, now())
ON CONFLICT (name) DO UPDATE SET group_name = excluded.group_name, driver = excluded.driver, last_seen = now()
