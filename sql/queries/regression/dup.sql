-- Regression $1 is the same as $2.
UPDATE regression SET state = 'dup', dup_of = $2, updated = now() WHERE id = $1
