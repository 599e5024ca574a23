-- SPDX-License-Identifier: GPL-3.0-or-later
-- The lab: machines that check themselves, files beside a run's output, machines that boot over the network.

-- What came beside standard output: "stderr", "monitor/vmstat", "file/metrics.yaml".
ALTER TABLE artefact DROP CONSTRAINT artefact_kind_check;
ALTER TABLE artefact ADD CONSTRAINT artefact_kind_check
	CHECK (kind IN ('image', 'config', 'log', 'console', 'raw', 'file', 'initrd'));
CREATE TABLE run_file (
	run bigint NOT NULL REFERENCES run,
	name text NOT NULL,
	artefact text NOT NULL REFERENCES artefact,
	truncated boolean NOT NULL DEFAULT false,
	PRIMARY KEY (run, name)
);
ALTER TABLE run ADD COLUMN run_s float8;         -- of the commands alone; NULL: never ended, or before this was kept
ALTER TABLE run ADD COLUMN host_s float8;        -- by our clock, which is not that of a guest that counts instructions; NULL as run_s
ALTER TABLE run ADD COLUMN about jsonb;          -- rusage, monitors, programs, clock jump, taint, facts that changed

-- A change of settings or monitors is another job.
ALTER TABLE job ADD COLUMN settings jsonb NOT NULL DEFAULT '{}';   -- governor, smt, turbo, sysctl.NAME; thp has its column
ALTER TABLE job ADD COLUMN aslr boolean NOT NULL DEFAULT false;
ALTER TABLE job ADD COLUMN monitors text[] NOT NULL DEFAULT '{}';
ALTER TABLE job ADD COLUMN monitor_interval_s float8 NOT NULL DEFAULT 1;

-- Machines. state is what a boot does right now; health is whether it may work.
ALTER TABLE machine ADD COLUMN state text NOT NULL DEFAULT 'idle'
	CHECK (state IN ('off', 'booting', 'up', 'running', 'collecting', 'resetting', 'idle'));
ALTER TABLE machine ADD COLUMN drained_by text;            -- who drained it: 'kperfbot' or a name; NULL when good
ALTER TABLE machine ADD COLUMN drained_at timestamptz;     -- NULL when good
ALTER TABLE machine ADD COLUMN last_check timestamptz;     -- end of the last control boot; NULL: never checked
ALTER TABLE machine ADD COLUMN boots_since_check integer NOT NULL DEFAULT 0;
ALTER TABLE machine ADD COLUMN unproven integer NOT NULL DEFAULT 0; -- boots in a row that failed and that kernel or machine may have failed

CREATE TABLE machine_event (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	machine text NOT NULL REFERENCES machine,
	at timestamptz NOT NULL DEFAULT now(),
	kind text NOT NULL CHECK (kind IN ('drain', 'undrain', 'suspect', 'fault', 'check', 'drift', 'recovered')),
	by text NOT NULL,
	text text NOT NULL
);
CREATE INDEX machine_event_at ON machine_event (machine, id);

-- The build that a group measures again and again: the first that gave a good boot there.
CREATE TABLE control (
	group_name text NOT NULL,
	kconfig text NOT NULL,
	commit text NOT NULL REFERENCES commit,
	build bigint REFERENCES build,             -- NULL on machines that boot nothing
	job bigint NOT NULL REFERENCES job,
	since timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (group_name, kconfig)
);

ALTER TABLE boot ADD COLUMN purpose text NOT NULL DEFAULT 'measure' CHECK (purpose IN ('measure', 'control'));
ALTER TABLE boot ADD COLUMN only_machine text;   -- NULL: any machine of the group
ALTER TABLE boot ADD COLUMN control_boot bigint REFERENCES boot; -- the control boot that judged this failure; NULL: none was needed
ALTER TABLE boot ADD COLUMN setup_s float8;      -- from the agent's first message to the first run; NULL: never came so far
CREATE INDEX boot_machine ON boot (machine, finished);

-- Both sides of a comparison, and all steps of a bisection, run on one machine: the first that took a boot of it.
ALTER TABLE comparison ADD COLUMN machine text REFERENCES machine; -- NULL until one is chosen
ALTER TABLE bisection ADD COLUMN machine text REFERENCES machine;

-- What a machine that boots over the network is offered, and what its agent has sent. One row a machine.
CREATE TABLE netboot (
	machine text PRIMARY KEY,
	mac text NOT NULL UNIQUE,
	secret text NOT NULL,                      -- the word in the stream's address; 128 bit, of this offer alone
	append text NOT NULL,                      -- kernel command line
	kernel text NOT NULL REFERENCES artefact,
	initrd text NOT NULL REFERENCES artefact,
	events integer NOT NULL DEFAULT 0,         -- what was fetched: NETBOOT_ bits of runners/drivers/driver.h
	received bigint NOT NULL DEFAULT 0,        -- bytes from the agent so far
	to_agent bytea NOT NULL DEFAULT '',        -- all bytes for the agent
	offered timestamptz NOT NULL DEFAULT now(),
	last_seen timestamptz                      -- NULL: it never asked
);
CREATE TABLE netboot_chunk (
	machine text NOT NULL REFERENCES netboot ON DELETE CASCADE,
	at_byte bigint NOT NULL,                   -- offset of its first byte in the stream
	data bytea NOT NULL,
	PRIMARY KEY (machine, at_byte)
);
GRANT SELECT ON run_file, machine_event, control, netboot TO kperfbot_web;
GRANT UPDATE (events, received, last_seen) ON netboot TO kperfbot_web;
GRANT SELECT, INSERT ON netboot_chunk TO kperfbot_web;
