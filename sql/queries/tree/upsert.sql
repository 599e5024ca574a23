-- SPDX-License-Identifier: GPL-3.0-or-later
-- A configured tree: $1 name, $2 url.
INSERT INTO tree (name, url) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET url = excluded.url
