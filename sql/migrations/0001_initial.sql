-- SPDX-License-Identifier: GPL-3.0-or-later
-- The whole road of a commit: tree, commit, build, boot, run, comparison, bisection, report.
-- Hashes are 40 lower-case hex digits, times are timestamptz, spans are seconds (float8),
-- effects are fractions (-0.038 is a drop of 3.8 percent).

-- The web role reads everything and asks by inserting rows.
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'kperfbot_web') THEN
		CREATE ROLE kperfbot_web NOLOGIN;
	END IF;
	EXECUTE format('GRANT kperfbot_web TO %I', current_user);
END
$$;

-- One sequence for all leases: a later lease always has a larger fence.
CREATE SEQUENCE fence_seq;

-- Work for the roles. A row is claimed with a lease and a fence; see bot/store/work.h.
CREATE TABLE work (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	kind text NOT NULL CHECK (kind IN ('fetch', 'plan', 'build', 'boot', 'detect', 'bisect', 'report', 'send')),
	prio integer NOT NULL DEFAULT 0,
	state text NOT NULL DEFAULT 'ready'
		CHECK (state IN ('ready', 'leased', 'done', 'failed', 'cancelled', 'quarantined')),
	run_at timestamptz NOT NULL DEFAULT now(),
	dedupe text,                               -- NULL: never joined with an equal request
	payload jsonb NOT NULL DEFAULT '{}',
	lease_owner text,                          -- NULL unless leased
	lease_until timestamptz,                   -- NULL unless leased
	fence bigint NOT NULL DEFAULT 0,
	attempts integer NOT NULL DEFAULT 0,       -- own failures
	crashes integer NOT NULL DEFAULT 0,        -- leases lost
	again boolean NOT NULL DEFAULT false,      -- asked for anew while leased: becomes ready at finish
	cancel_asked boolean NOT NULL DEFAULT false,
	last_error text,                           -- NULL: never failed
	created timestamptz NOT NULL DEFAULT now(),
	finished timestamptz                       -- NULL while open
);
CREATE INDEX work_ready ON work (prio DESC, run_at, id) WHERE state = 'ready';
CREATE INDEX work_leased ON work (lease_until) WHERE state = 'leased';
CREATE UNIQUE INDEX work_dedupe ON work (dedupe) WHERE state IN ('ready', 'leased');
CREATE INDEX work_finished ON work (finished) WHERE finished IS NOT NULL;

CREATE TABLE tree (
	name text PRIMARY KEY,
	url text NOT NULL,
	last_try timestamptz,                      -- NULL: never fetched
	last_ok timestamptz,                       -- NULL: never fetched with success
	failures integer NOT NULL DEFAULT 0,       -- in a row
	last_error text                            -- NULL: the last fetch went well
);

CREATE TABLE head (
	tree text NOT NULL REFERENCES tree,
	branch text NOT NULL,
	commit text NOT NULL,
	since timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (tree, branch)
);

CREATE TABLE head_event (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	tree text NOT NULL REFERENCES tree,
	branch text NOT NULL,
	kind text NOT NULL CHECK (kind IN ('first', 'new', 'moved', 'forced', 'deleted')),
	old text,                                  -- NULL for first and new
	new text,                                  -- NULL for deleted
	at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX head_event_at ON head_event (tree, branch, id);

-- Names and subjects are made valid UTF-8 on the way in; message is as git has it.
CREATE TABLE commit (
	hash text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{40}$'),
	parents text[] NOT NULL,
	subject text NOT NULL,
	author_name text NOT NULL,
	author_mail text NOT NULL,
	author_time timestamptz NOT NULL,
	committer_name text NOT NULL,
	committer_mail text NOT NULL,
	commit_time timestamptz NOT NULL,
	message bytea NOT NULL
);

-- Files of the artefact store, named by their hash.
CREATE TABLE artefact (
	sha256 text PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
	size_bytes bigint NOT NULL,
	kind text NOT NULL CHECK (kind IN ('image', 'config', 'log', 'console', 'raw')),
	created timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE build (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	commit text NOT NULL REFERENCES commit,
	kconfig text NOT NULL,                     -- name in the configuration
	kconfig_hash text NOT NULL,                -- of base and fragments
	compiler text NOT NULL,                    -- first line of cc --version
	state text NOT NULL DEFAULT 'wanted' CHECK (state IN ('wanted', 'ok', 'failed')),
	fail_class text,                           -- NULL unless failed: build, timeout, flood, no-image, kconfig
	detail text,                               -- first error line; NULL unless failed
	image text REFERENCES artefact,            -- NULL unless ok
	config text REFERENCES artefact,           -- NULL when none was made
	log text REFERENCES artefact,              -- NULL while wanted
	gnu_build_id text,                         -- NULL unless ok
	took_s float8,                             -- NULL while wanted
	created timestamptz NOT NULL DEFAULT now(),
	finished timestamptz,                      -- NULL while wanted
	UNIQUE (commit, kconfig_hash, compiler)
);

-- A job as the configuration defines it; a changed definition is a new row.
CREATE TABLE job (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name text NOT NULL,
	def_hash text NOT NULL,
	suite text NOT NULL,
	test text NOT NULL,
	params jsonb NOT NULL,
	metric text NOT NULL,
	group_name text NOT NULL,
	kconfig text NOT NULL,                     -- '' on machines that boot nothing
	thp text NOT NULL,
	runs_per_boot integer NOT NULL,
	min_effect float8 NOT NULL,
	timeout_s float8 NOT NULL,
	created timestamptz NOT NULL DEFAULT now(),
	UNIQUE (name, def_hash)
);

CREATE TABLE machine (
	name text PRIMARY KEY,
	group_name text NOT NULL,
	driver text NOT NULL,
	health text NOT NULL DEFAULT 'good'
		CHECK (health IN ('good', 'suspect', 'quarantined', 'maintenance', 'retired')),
	note text,                                 -- why it is not good; NULL when good
	faults integer NOT NULL DEFAULT 0,         -- lab faults in a row
	lease_owner text,                          -- NULL when free
	lease_until timestamptz,                   -- NULL when free
	fence bigint NOT NULL DEFAULT 0,
	last_seen timestamptz                      -- NULL: never answered
);

CREATE TABLE comparison (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	tree text NOT NULL REFERENCES tree,
	branch text NOT NULL,
	base text NOT NULL REFERENCES commit,
	head text NOT NULL REFERENCES commit,
	job bigint NOT NULL REFERENCES job,
	state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done', 'failed', 'cancelled')),
	verdict text,                              -- NULL until judged
	look integer NOT NULL DEFAULT 0,           -- boots a side asked for so far
	rel float8, lo float8, hi float8, p float8, -- NULL until judged
	detail text,                               -- why it failed; NULL otherwise
	evidence jsonb,                            -- all metrics at the last look; NULL until judged
	created timestamptz NOT NULL DEFAULT now(),
	finished timestamptz,                      -- NULL while open
	UNIQUE (tree, branch, base, head, job)
);

CREATE TABLE regression (
	id text PRIMARY KEY CHECK (id ~ '^r[a-z0-9]{7}$'),
	state text NOT NULL DEFAULT 'confirmed' CHECK (state IN ('new', 'confirmed', 'bisecting',
		'reported', 'acknowledged', 'expected', 'fix-pending', 'fixed', 'invalid', 'lab', 'dup')),
	class text NOT NULL DEFAULT 'micro' CHECK (class IN ('broad', 'micro', 'unknown')),
	tree text NOT NULL REFERENCES tree,
	branch text NOT NULL,
	job bigint NOT NULL REFERENCES job,
	comparison bigint REFERENCES comparison,   -- NULL: found by an asked bisection
	metric text NOT NULL,
	rel float8 NOT NULL, lo float8 NOT NULL, hi float8 NOT NULL, level float8 NOT NULL,
	base text NOT NULL REFERENCES commit,
	head text NOT NULL REFERENCES commit,
	culprit text REFERENCES commit,            -- NULL until bisected
	p float8,                                  -- probability of the culprit; NULL until bisected
	dup_of text REFERENCES regression,         -- NULL unless state is dup
	created timestamptz NOT NULL DEFAULT now(),
	updated timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX regression_comparison ON regression (comparison, metric);
CREATE INDEX regression_created ON regression (created DESC, id);

CREATE TABLE regression_history (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	regression text NOT NULL REFERENCES regression,
	at timestamptz NOT NULL DEFAULT now(),
	from_state text,                           -- NULL for the first entry
	to_state text NOT NULL,
	by text NOT NULL,
	why text NOT NULL
);

CREATE TABLE bisection (
	id text PRIMARY KEY CHECK (id ~ '^b[a-z0-9]{7}$'),
	regression text REFERENCES regression,     -- NULL when a person asked
	tree text NOT NULL REFERENCES tree,
	good text NOT NULL,
	bad text NOT NULL,
	job bigint NOT NULL REFERENCES job,
	metric text NOT NULL,
	state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'checking-ends', 'running',
		'verifying', 'done', 'inconclusive', 'not-reproduced', 'failed', 'cancelled')),
	dedupe text NOT NULL,                      -- hash of what was asked; open requests join
	request jsonb NOT NULL,                    -- as asked, see web/api_bisects.c
	asked_by text NOT NULL,                    -- 'kperfbot' or the token's id
	status jsonb NOT NULL DEFAULT '{}',        -- posterior, steps, runs, eta: for readers only
	result jsonb,                              -- NULL until it ended
	created timestamptz NOT NULL DEFAULT now(),
	started timestamptz,                       -- NULL while queued
	finished timestamptz                       -- NULL while open
);
CREATE UNIQUE INDEX bisection_dedupe ON bisection (dedupe)
	WHERE state IN ('queued', 'checking-ends', 'running', 'verifying');
CREATE UNIQUE INDEX bisection_regression ON bisection (regression);
CREATE INDEX bisection_created ON bisection (created DESC, id);

CREATE TABLE bisect_step (
	bisection text NOT NULL REFERENCES bisection,
	n integer NOT NULL,
	commit text NOT NULL,
	verdict text NOT NULL CHECK (verdict IN ('good', 'bad', 'unsure', 'skip')),
	p_bad float8,                              -- NULL when skipped
	rel float8,                                -- against the good end; NULL when skipped
	boots integer NOT NULL,
	runs integer NOT NULL,
	left_eff float8 NOT NULL,                  -- 2^entropy of the posterior after the step
	reason text,                               -- NULL unless skipped: build, boot, tainted
	detail text,                               -- NULL unless skipped
	took_s float8 NOT NULL,
	at timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (bisection, n)
);

-- One boot of one build on one machine, with its runs; rows are made before the boot.
CREATE TABLE boot (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	uuid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
	commit text NOT NULL REFERENCES commit,
	build bigint REFERENCES build,             -- NULL on machines that boot nothing
	job bigint NOT NULL REFERENCES job,
	comparison bigint REFERENCES comparison,   -- who asked; NULL for a bisection or a baseline
	bisection text REFERENCES bisection,       -- who asked; NULL for a comparison or a baseline
	wanted_runs integer NOT NULL,
	state text NOT NULL DEFAULT 'wanted' CHECK (state IN ('wanted', 'done', 'failed', 'cancelled')),
	class text,                                -- NULL until it ended; 'ok' or a failure class
	detail text,                               -- NULL unless failed
	excluded boolean NOT NULL DEFAULT false,   -- a person or the health check took it out
	machine text REFERENCES machine,           -- NULL until it ran
	fence bigint,                              -- of the attempt that ran it; NULL until it ran
	machine_boot_id text,                      -- NULL until it ran
	accel text,                                -- NULL until it ran, or unless the driver is qemu
	suite_version text,                        -- NULL until it ran
	facts jsonb,                               -- NULL until it ran
	console text REFERENCES artefact,          -- NULL when there is none
	boot_s float8, took_s float8,              -- NULL until it ran
	created timestamptz NOT NULL DEFAULT now(),
	started timestamptz, finished timestamptz  -- NULL until it ran
);
CREATE INDEX boot_comparison ON boot (comparison);
CREATE INDEX boot_bisection ON boot (bisection);
CREATE INDEX boot_job_commit ON boot (job, commit);

CREATE TABLE run (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	uuid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
	boot bigint NOT NULL REFERENCES boot,
	n integer NOT NULL,                        -- place on its boot, from 1
	class text NOT NULL,                       -- 'ok' or a failure class
	detail text,                               -- NULL when ok
	raw text REFERENCES artefact,              -- NULL when nothing was printed
	exit_status integer NOT NULL,
	wall_s float8 NOT NULL,
	at timestamptz NOT NULL DEFAULT now(),
	UNIQUE (boot, n)
);

CREATE TABLE metric (
	id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name text NOT NULL UNIQUE,
	unit text NOT NULL,
	better text NOT NULL CHECK (better IN ('higher', 'lower', 'none')),
	kind text NOT NULL CHECK (kind IN ('rate', 'time', 'count', 'share')),
	headline boolean NOT NULL,
	about text NOT NULL
);

-- Which metrics the array of a run holds, in its order; runs of one shape share a row.
CREATE TABLE metric_layout (
	id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	metrics integer[] NOT NULL UNIQUE
);

CREATE TABLE run_values (
	run bigint PRIMARY KEY REFERENCES run,
	layout integer NOT NULL REFERENCES metric_layout,
	v float8[] NOT NULL
);

-- For people and pages: one row a value.
CREATE VIEW run_metric AS
	SELECT r.id AS run, r.boot, m.name AS metric, m.unit, m.better, m.headline, u.value
	FROM run_values rv
	JOIN run r ON r.id = rv.run
	JOIN metric_layout l ON l.id = rv.layout
	CROSS JOIN LATERAL unnest(l.metrics, rv.v) AS u (metric, value)
	JOIN metric m ON m.id = u.metric
	WHERE r.class = 'ok';

-- Mails: bytes are frozen when the row is written; one row per regression, kind and number.
CREATE TABLE outbox (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	regression text NOT NULL REFERENCES regression,
	kind text NOT NULL CHECK (kind IN ('report', 'fixed', 'retract', 'digest')),
	seq integer NOT NULL,
	message_id text NOT NULL UNIQUE,
	subject text NOT NULL,
	bytes bytea NOT NULL,
	created timestamptz NOT NULL DEFAULT now(),
	UNIQUE (regression, kind, seq)
);

CREATE TABLE outbox_rcpt (
	outbox bigint NOT NULL REFERENCES outbox,
	addr text NOT NULL,
	reason text NOT NULL,
	state text NOT NULL DEFAULT 'queued'
		CHECK (state IN ('held', 'queued', 'sending', 'sent', 'deferred', 'dead', 'unsure')),
	attempts integer NOT NULL DEFAULT 0,
	next_at timestamptz NOT NULL DEFAULT now(),
	code integer,                              -- last SMTP code; NULL: none yet
	answer text,                               -- last SMTP answer; NULL: none yet
	first_try timestamptz,                     -- NULL: never tried
	sent timestamptz,                          -- NULL unless sent
	PRIMARY KEY (outbox, addr)
);
CREATE INDEX outbox_rcpt_due ON outbox_rcpt (next_at) WHERE state IN ('queued', 'deferred', 'sending');

CREATE TABLE token (
	id text PRIMARY KEY,
	secret_sha256 text NOT NULL,
	name text NOT NULL,
	scopes text[] NOT NULL,
	created timestamptz NOT NULL DEFAULT now(),
	expires timestamptz,                       -- NULL: never
	last_use timestamptz,                      -- NULL: never used
	revoked timestamptz                        -- NULL: valid
);

GRANT SELECT ON ALL TABLES IN SCHEMA public TO kperfbot_web;
GRANT INSERT ON work, bisection TO kperfbot_web;
GRANT UPDATE (run_at, again) ON work TO kperfbot_web;
GRANT UPDATE (last_use) ON token TO kperfbot_web;
