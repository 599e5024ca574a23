# SPDX-License-Identifier: GPL-3.0-or-later
"""The road to one mail, each time with a state folder of its own and the same in every digit.

What the stand-in lab measures depends on commit and number of the boot alone,
and what things take is always the same, so that the boots, the log and the
answer can be compared when something was killed on the way.
"""

import os
import shlex
import time

import checker
import testbed
from testbed import require

# The lab: noise by commit and number of its boot, so that a boot that is repeated gives the same.
QEMU = """#!/bin/sh
case " $* " in *" -kernel "*) ;; *) exec {qemu} "$@" ;; esac
FAKE_QEMU_SEED=$(cd / && {psql}) || exit 1
export FAKE_QEMU_SEED
exec {qemu} "$@"
"""
WHICH_BOOT = """SELECT b.commit || ' ' || (SELECT count(*) FROM boot o
WHERE o.commit = b.commit AND o.job = b.job AND o.id < b.id)
FROM machine m JOIN work w ON w.fence = m.fence AND w.state = 'leased'
JOIN boot b ON b.id = (w.payload->>'boot')::bigint WHERE m.name = 'lab1'"""
# Costs as they always are; and no crash counts, as they are ours.
TRIGGERS = """
CREATE FUNCTION always_as_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	NEW.took_s := CASE WHEN NEW.took_s > 0 THEN 60 END; RETURN NEW; END $$;
CREATE TRIGGER always_as_long BEFORE UPDATE ON boot FOR EACH ROW EXECUTE FUNCTION always_as_long();
CREATE TRIGGER always_as_long BEFORE UPDATE ON build FOR EACH ROW EXECUTE FUNCTION always_as_long();
CREATE FUNCTION no_crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF NEW.crashes > OLD.crashes THEN
		NEW.crashes := 0; NEW.run_at := OLD.run_at;
	END IF; RETURN NEW; END $$;
CREATE TRIGGER no_crash BEFORE UPDATE ON work FOR EACH ROW EXECUTE FUNCTION no_crash();
"""
EXTRA = """
[bisect]
	build-ahead = false
"""
TODAY = time.strftime("%Y-%m-%dT00:00:00Z", time.gmtime())


def make_series(bed):
    bed.tree.dates = {"GIT_AUTHOR_DATE": TODAY, "GIT_COMMITTER_DATE": TODAY}
    base = bed.tree.commit("demo: start")
    bed.tree.commit("demo: does not build", source="int main(void) { return NUMBER + x; }\n")
    for _ in range(2):
        bed.tree.commit()
    # Nothing but its words changes, so that it can be taken back.
    bed.tree.words["page_fault1"] = 960000
    bed.tree.put("words", "page_fault1=960000 page_fault2=2000000")
    bed.tree.git("commit", "-q", "-a", "-m", "demo: slower")
    planted = bed.tree.git("rev-parse", "HEAD")
    for _ in range(2):
        bed.tree.commit()
    return base, planted


def prepare(bed):
    """A base that is measured, and a branch that has moved."""
    bed.write_config(EXTRA)
    path = os.path.join(bed.dir, "lab1")
    qemu = f"{bed.build}/tests/fake_qemu"
    with open(path, "w", encoding="utf-8") as f:
        f.write(QEMU.format(qemu=shlex.quote(qemu), psql=shlex.join(bed.psql_command(WHICH_BOOT))))
    os.chmod(path, 0o755)
    with open(bed.conf, encoding="utf-8") as f:
        text = f.read()
    with open(bed.conf, "w", encoding="utf-8") as f:
        f.write(text.replace(f"qemu = {qemu}", f"qemu = {path}"))
    base, planted = make_series(bed)
    bed.tree.push(f"{base}:refs/heads/master")
    bed.start()
    bed.wait("database there", "SELECT FROM tree")
    require(bed.psql(TRIGGERS) is not None, "no triggers")
    bed.measured(base)
    bed.kill_all()
    bed.tree.push()
    return planted


def told(bed):
    """All that may be compared: without ids, times and what it took."""
    result = bed.one("SELECT result FROM bisection")
    return {
        "boots": bed.query("SELECT b.commit, b.state, b.class, b.bisection IS NULL AS compared, b.wanted_runs, "
                           "(SELECT json_agg(v.value ORDER BY v.run, v.metric) FROM run_metric v WHERE v.boot = b.id) AS values "
                           "FROM boot b WHERE state <> 'cancelled' ORDER BY id"),
        # Commits whose boots were ordered together may be told in either order.
        "steps": bed.query("SELECT commit, boots, runs, verdict, reason FROM bisect_step ORDER BY 1, 2, 3"),
        "log": bed.one("SELECT status->>'git_log' FROM bisection"),
        "replay": bed.one("SELECT status->>'replay' FROM bisection"),
        "p": bed.one("SELECT (result->>'p')::float8 FROM bisection"),
        "result": {k: v for k, v in result.items() if k not in ("took_s", "machine_hours")},
        "regression": bed.query("SELECT culprit, rel, state FROM regression"),
        # A server that was cut off before its answer was noted gets the same mail again.
        "mails": sorted({bed.mail_parsed(i)["Subject"] for i in range(len(bed.mail.mails))}),
    }


def same(what, got, expected):
    for key, value in expected.items():
        require(got[key] == value, f"{what}: another {key}:\n{got[key]}\ninstead of\n{value}")


def ended(bed, planted):
    state = bed.wait("bisection ended", "SELECT state FROM bisection WHERE finished IS NOT NULL", 60)
    require(state[0]["state"] == "done", str(state))
    bed.reported(planted, 20)
    require(bed.one("SELECT count(*) FROM bisection") == 1, "more than one bisection")
    require(bed.one("SELECT count(*) FROM outbox") == 1, "more than one report")
    ids = {bed.mail_parsed(i)["Message-ID"] for i in range(len(bed.mail.mails))}
    require(len(ids) == 1, f"mails with different ids: {ids}")
    checker.check(bed)
    return told(bed)


def deaths(folder):
    try:
        with open(os.path.join(folder, "log"), encoding="ascii") as f:
            return [line.split() for line in f]
    except FileNotFoundError:
        return []


def undisturbed(bed):
    planted = prepare(bed)
    bed.start()
    return ended(bed, planted)


def compare(bed, test):
    """@test gets a fresh bed, and what it comes to when it is left alone."""
    expected = undisturbed(bed)
    bed.say(f"{len(expected['boots'])} boots, {len(expected['steps'])} steps, p {expected['p']}")
    bed.stop()
    with testbed.another(bed) as other:
        test(other, expected)
