-- All tokens. Columns: json. One row.
SELECT json_strip_nulls(json_build_object('items', COALESCE((SELECT json_agg(json_build_object(
	'id', id, 'name', name, 'scopes', to_json(scopes), 'created', created, 'expires', expires,
	'last_use', last_use, 'revoked', revoked) ORDER BY created, id) FROM token), '[]'::json)))
