-- SPDX-License-Identifier: GPL-3.0-or-later
-- A token. $1 id. Columns: secret_sha256, scopes as text with spaces, valid, why not. No row: none.
SELECT secret_sha256, array_to_string(scopes, ' '), revoked IS NULL AND (expires IS NULL OR expires > now()),
	CASE WHEN revoked IS NOT NULL THEN 'revoked' ELSE 'expired' END
FROM token WHERE id = $1
