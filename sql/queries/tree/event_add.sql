-- SPDX-License-Identifier: GPL-3.0-or-later
-- Something happened to tree $1, branch $2: $3 kind, $4 old commit or NULL, $5 new commit or NULL.
INSERT INTO head_event (tree, branch, kind, old, new) VALUES ($1, $2, $3, $4, $5)
