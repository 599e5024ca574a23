-- Branch $2 of tree $1 is gone.
DELETE FROM head WHERE tree = $1 AND branch = $2
