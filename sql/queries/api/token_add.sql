-- SPDX-License-Identifier: GPL-3.0-or-later
-- $1 id, $2 SHA-256 of the secret, $3 name, $4 scopes (text[]), $5 days it lives or NULL. No columns.
INSERT INTO token (id, secret_sha256, name, scopes, expires)
VALUES ($1, $2, $3, $4::text[], now() + $5::bigint * interval '1 day')
