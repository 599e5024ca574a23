-- Newest definition of a job. $1 name. Columns: id, metric. No row: it was not used yet.
SELECT id, metric FROM job WHERE name = $1 ORDER BY created DESC, id DESC LIMIT 1
