-- SPDX-License-Identifier: GPL-3.0-or-later
-- All tokens. Columns: json. One row.
SELECT json_strip_nulls(json_build_object('items', COALESCE((SELECT json_agg(json_build_object(
	'id', id, 'name', name, 'scopes', to_json(scopes), 'created',
	to_char(created, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'expires',
	to_char(expires, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
	'last_use',
	to_char(last_use, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'revoked',
	to_char(revoked, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) ORDER BY created, id) FROM token), '[]'::json)))
