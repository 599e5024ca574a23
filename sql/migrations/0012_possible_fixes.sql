-- SPDX-License-Identifier: GPL-3.0-or-later
-- Commits of a branch that say they fix the culprit of a regression, or take it back: claims that nobody has measured.

ALTER TABLE work DROP CONSTRAINT work_kind_check;
ALTER TABLE work ADD CONSTRAINT work_kind_check
	CHECK (kind IN ('fetch', 'fixes', 'plan', 'build', 'boot', 'detect', 'bisect', 'report', 'send'));

CREATE TABLE regression_fix (
	regression text NOT NULL REFERENCES regression,
	commit text NOT NULL REFERENCES commit,
	says text NOT NULL CHECK (says IN ('fixes', 'reverts')),
	by_title boolean NOT NULL,                 -- the id in it is unknown, and the title is the culprit's alone
	tip text NOT NULL REFERENCES commit,       -- newest head of the branch in which it was seen
	seen timestamptz NOT NULL DEFAULT now(),   -- the first time
	PRIMARY KEY (regression, commit)
);
GRANT SELECT ON regression_fix TO kperfbot_web;
