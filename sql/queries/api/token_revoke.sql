-- SPDX-License-Identifier: GPL-3.0-or-later
-- $1 id. One row changed, or none when there is no such token or it is revoked already.
UPDATE token SET revoked = now() WHERE id = $1 AND revoked IS NULL
