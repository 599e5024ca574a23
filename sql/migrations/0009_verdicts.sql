-- SPDX-License-Identifier: GPL-3.0-or-later
-- Verdicts: why a comparison is made, what it can see, and what the history of a branch says.

-- head: a new head against the one before. confirm: a step seen in the history is measured again, interleaved.
-- layout: the culprit of a regression and its parent, built with other function alignment.
ALTER TABLE comparison ADD COLUMN purpose text NOT NULL DEFAULT 'head' CHECK (purpose IN ('head', 'confirm', 'layout'));
ALTER TABLE comparison ADD COLUMN regression text REFERENCES regression; -- whose check it is; NULL unless layout
ALTER TABLE comparison ADD COLUMN variant text NOT NULL DEFAULT '';      -- of the builds of both sides
ALTER TABLE comparison ADD COLUMN target float8;  -- change that it has to be able to see; NULL: the configuration's
ALTER TABLE comparison ADD COLUMN plan jsonb;     -- noise known before, what each look can see; NULL: nothing was known
ALTER TABLE comparison DROP CONSTRAINT comparison_tree_branch_base_head_job_key;
ALTER TABLE comparison ADD CONSTRAINT comparison_asked UNIQUE (tree, branch, base, head, job, purpose, variant);

-- '' as the kconfig says; align64: all functions aligned to 64 bytes.
ALTER TABLE build ADD COLUMN variant text NOT NULL DEFAULT '';
ALTER TABLE build DROP CONSTRAINT build_commit_kconfig_hash_compiler_key;
ALTER TABLE build ADD CONSTRAINT build_recipe UNIQUE (commit, kconfig_hash, compiler, variant);

-- layout: with the builds of a comparison of layouts.
ALTER TABLE boot DROP CONSTRAINT boot_purpose_check;
ALTER TABLE boot ADD CONSTRAINT boot_purpose_check CHECK (purpose IN ('measure', 'control', 'layout'));

-- layout: the culprit moves code about and does nothing else to the test.
ALTER TABLE regression DROP CONSTRAINT regression_state_check;
ALTER TABLE regression ADD CONSTRAINT regression_state_check CHECK (state IN ('new', 'confirmed', 'bisecting',
	'reported', 'acknowledged', 'expected', 'fix-pending', 'fixed', 'invalid', 'lab', 'dup', 'layout'));

-- What one machine measured of one job's headline metric along a branch.
CREATE TABLE series (
	id text PRIMARY KEY CHECK (id ~ '^s[a-z0-9]{7}$'),
	tree text NOT NULL REFERENCES tree,
	branch text NOT NULL,
	job bigint NOT NULL REFERENCES job,
	machine text NOT NULL REFERENCES machine,
	metric text NOT NULL,
	created timestamptz NOT NULL DEFAULT now(),
	UNIQUE (tree, branch, job, machine, metric)
);

-- A place in a series where the level changed.
CREATE TABLE change_point (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	series text NOT NULL REFERENCES series,
	first text NOT NULL REFERENCES commit,     -- first commit that is surely of the new level
	last text NOT NULL REFERENCES commit,      -- last commit that is surely of the old one
	rel float8 NOT NULL,
	p float8 NOT NULL,
	state text NOT NULL DEFAULT 'seen' CHECK (state IN (
		'seen',        -- nothing was done about it yet
		'known',       -- a comparison of neighbours had found it
		'confirming',  -- base and head are measured again, interleaved
		'confirmed', 'refuted', 'unconfirmed', -- what that said; unconfirmed: it could not be measured
		'drift',       -- the control build moved with it: the machine, not the kernel
		'went-away')), -- later commits do not show it any more
	comparison bigint REFERENCES comparison,   -- that confirms it, or that had found it; NULL: none yet
	detail text,                               -- for people; NULL: nothing to add
	seen timestamptz NOT NULL DEFAULT now(),
	updated timestamptz NOT NULL DEFAULT now(),
	UNIQUE (series, first)
);
CREATE INDEX change_point_comparison ON change_point (comparison);

GRANT SELECT ON series, change_point TO kperfbot_web;

-- The commits of a branch that a job has compared, in the order in which the branch came to them.
CREATE VIEW branch_commit AS
	SELECT tree, branch, job, commit, min(place) AS place
	FROM (SELECT tree, branch, job, base AS commit, 2 * id AS place FROM comparison WHERE purpose = 'head'
		UNION ALL
		SELECT tree, branch, job, head, 2 * id + 1 FROM comparison WHERE purpose = 'head') c
	GROUP BY tree, branch, job, commit;
GRANT SELECT ON branch_commit TO kperfbot_web;
