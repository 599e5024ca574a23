-- SPDX-License-Identifier: GPL-3.0-or-later
-- Head of tree $1, branch $2 is commit $3.
INSERT INTO head (tree, branch, commit) VALUES ($1, $2, $3)
ON CONFLICT (tree, branch) DO UPDATE SET commit = excluded.commit, since = now()
