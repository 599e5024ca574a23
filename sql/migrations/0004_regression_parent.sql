-- SPDX-License-Identifier: GPL-3.0-or-later
-- The commit that the culprit was compared with. base and head stay those of the comparison that
-- found the regression, so that its numbers keep their meaning.
ALTER TABLE regression ADD COLUMN parent text REFERENCES commit; -- NULL until bisected
UPDATE regression SET parent = base WHERE culprit IS NOT NULL;
