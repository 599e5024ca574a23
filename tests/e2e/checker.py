# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold at all times, whatever was killed: each query gives no row."""

import collections
import fcntl
import hashlib
import os
import re
import time

from testbed import Failure

QUERIES = {
    "work under an expired lease":
        "SELECT id, kind FROM work WHERE state = 'leased' AND lease_until < now() - interval '6 s'",
    "boot that is done without a good run":
        "SELECT id FROM boot b WHERE state = 'done' AND NOT EXISTS "
        "(SELECT FROM run WHERE boot = b.id AND class = 'ok')",
    "good run of a boot that is not done":
        "SELECT r.id FROM run r JOIN boot b ON b.id = r.boot WHERE b.state <> 'done' AND r.class = 'ok'",
    "good run without value, or values of a bad one":
        "SELECT r.id FROM run r LEFT JOIN run_values v ON v.run = r.id "
        "WHERE (r.class = 'ok') <> (v.run IS NOT NULL)",
    "build that ended without log or image":
        "SELECT id FROM build WHERE state <> 'wanted' AND log IS NULL "
        "OR state = 'ok' AND (image IS NULL OR gnu_build_id IS NULL)",
    "boot with another number of runs than wanted":
        "SELECT b.id FROM boot b JOIN run r ON r.boot = b.id WHERE b.state = 'done' "
        "GROUP BY b.id HAVING count(*) <> b.wanted_runs",
    "two boots with one machine boot id":
        "SELECT machine_boot_id FROM boot WHERE machine_boot_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1",
    "boot whose fence is not that of its work":
        "SELECT b.id FROM boot b JOIN work w ON w.kind = 'boot' AND w.payload->>'boot' = b.id::text "
        "WHERE w.state = 'done' AND b.fence <> w.fence",
    "fence above the sequence":
        "SELECT id FROM work WHERE fence > (SELECT last_value FROM fence_seq)",
    "reported regression without exactly one mail":
        "SELECT r.id FROM regression r LEFT JOIN outbox o ON o.regression = r.id AND o.kind = 'report' "
        "WHERE r.state = 'reported' GROUP BY r.id HAVING count(o.id) <> 1",
    "mail about a regression that is not reported":
        "SELECT o.id FROM outbox o JOIN regression r ON r.id = o.regression "
        "WHERE r.state NOT IN ('reported', 'confirmed')",
    "two mails about one commit":
        "SELECT r.culprit FROM regression r JOIN outbox o ON o.regression = r.id AND o.kind = 'report' "
        "GROUP BY r.tree, r.culprit, r.metric HAVING count(*) > 1",
    "mail without recipient":
        "SELECT id FROM outbox o WHERE NOT EXISTS (SELECT FROM outbox_rcpt WHERE outbox = o.id)",
    "comparison measured on two machines":
        "SELECT c.id FROM comparison c JOIN boot b ON b.comparison = c.id WHERE b.state = 'done' AND NOT b.excluded "
        "GROUP BY c.id HAVING count(DISTINCT b.machine) > 1",
    "commit skipped for a failure that may be of the machine":
        "SELECT s.bisection FROM bisect_step s JOIN bisection i ON i.id = s.bisection WHERE s.reason = 'boot' AND NOT EXISTS "
        "(SELECT FROM boot b WHERE b.job = i.job AND b.commit = s.commit AND b.control_boot IS NOT NULL)",
    "control boot that another machine made":
        "SELECT id FROM boot WHERE purpose = 'control' AND machine IS NOT NULL AND machine <> only_machine",
    "drained machine of which nobody knows why":
        "SELECT name FROM machine WHERE health <> 'good' AND (note IS NULL OR drained_by IS NULL OR drained_at IS NULL)",
    "machine that we drained and nothing will check":
        "SELECT name FROM machine m WHERE drained_by = 'kperfbot' AND health IN ('suspect', 'quarantined') AND NOT EXISTS "
        "(SELECT FROM work w WHERE w.dedupe = 'control:' || m.name AND w.state IN ('ready', 'leased')) "
        "AND EXISTS (SELECT FROM control k WHERE k.group_name = m.group_name)",
    "machine that is held by nothing":
        "SELECT name FROM machine m WHERE lease_until IS NOT NULL AND NOT EXISTS "
        "(SELECT FROM work WHERE fence = m.fence AND state = 'leased')",
    "machine held by two":
        "SELECT fence FROM machine WHERE lease_until IS NOT NULL GROUP BY fence HAVING count(*) > 1",
    "attempts or crashes above the limit":
        "SELECT id, kind FROM work WHERE crashes > 3 OR crashes = 3 AND state NOT IN ('quarantined', 'done')",
    "regression verdict over runs of a faulty boot":
        "SELECT c.id FROM comparison c JOIN boot b ON b.comparison = c.id JOIN run r ON r.boot = b.id "
        "WHERE c.verdict = 'regression' AND b.class <> 'ok' AND r.class = 'ok'",
    "open comparison that nothing will wake":
        "SELECT id FROM comparison c WHERE state = 'open' AND NOT EXISTS (SELECT FROM work w "
        "WHERE w.state IN ('ready', 'leased') AND (w.dedupe = 'detect:' || c.id "
        "OR w.kind = 'boot' AND w.payload->>'boot' IN (SELECT id::text FROM boot WHERE comparison = c.id) "
        "OR w.kind = 'build' AND w.payload->>'build' IN "
        "(SELECT id::text FROM build WHERE commit IN (c.base, c.head))))",
    "open bisection that nothing will wake":
        "SELECT id FROM bisection s WHERE finished IS NULL AND NOT EXISTS (SELECT FROM work w "
        "WHERE w.state IN ('ready', 'leased') AND (w.dedupe = 'bisect:' || s.id "
        "OR w.kind = 'boot' AND w.payload->>'boot' IN (SELECT id::text FROM boot WHERE bisection = s.id) "
        "OR w.kind = 'build'))",
    "two boots at once on one machine":
        "SELECT a.id, b.id AS other FROM boot a JOIN boot b ON b.machine = a.machine AND b.id > a.id "
        "WHERE a.started < b.finished AND b.started < a.finished",
    "boot that an ended bisection still waits for":
        "SELECT b.id FROM boot b JOIN bisection s ON s.id = b.bisection WHERE b.state = 'wanted' AND s.finished IS NOT NULL "
        "AND NOT EXISTS (SELECT FROM work w WHERE w.dedupe = 'bisect:' || s.id AND w.state IN ('ready', 'leased'))",
    "bisection that ended without an answer, or has one and goes on":
        "SELECT id FROM bisection WHERE (finished IS NULL) <> (result IS NULL)",
    "steps of a bisection that are not numbered one after the other":
        "SELECT bisection FROM bisect_step GROUP BY bisection HAVING count(*) <> max(n) OR min(n) <> 1",
    "regression that two bisections look into":
        "SELECT regression FROM bisection WHERE finished IS NULL AND regression IS NOT NULL "
        "GROUP BY regression HAVING count(*) > 1",
    "boot that nothing will run":
        "SELECT id FROM boot b WHERE state = 'wanted' AND NOT EXISTS (SELECT FROM work w "
        "WHERE w.state IN ('ready', 'leased') AND (w.dedupe = 'boot:' || b.id "
        "OR w.dedupe = 'build:' || b.build))",
    "build that nothing will make":
        "SELECT id FROM build b WHERE state = 'wanted' AND NOT EXISTS (SELECT FROM work w "
        "WHERE w.state IN ('ready', 'leased') AND w.dedupe = 'build:' || b.id)",
    "recipient that nothing will write to":
        "SELECT outbox, addr FROM outbox_rcpt r WHERE state IN ('queued', 'deferred', 'sending') "
        "AND NOT EXISTS (SELECT FROM work w WHERE w.state IN ('ready', 'leased') "
        "AND w.dedupe = 'send:' || r.outbox || ':' || r.addr)",
    "regression left in bisecting":
        "SELECT r.id FROM regression r WHERE r.state = 'bisecting' AND NOT EXISTS "
        "(SELECT FROM bisection WHERE regression = r.id AND finished IS NULL)",
    "tree that nothing will fetch":
        "SELECT name FROM tree t WHERE NOT EXISTS (SELECT FROM work w "
        "WHERE w.state IN ('ready', 'leased') AND w.dedupe = 'fetch:' || t.name)",
    "transaction left open":
        "SELECT pid, query FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' "
        "AND state_change < now() - interval '5 s'",
    "advisory lock left":
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory'",
}


def check_database(bed):
    """One look may fall between two steps that do not belong together: what is wrong stays so."""
    bad = dict(QUERIES)
    for _ in range(12):
        rows = bed.query(" UNION ALL ".join(
            f"SELECT '{what}' AS what, (SELECT json_agg(q) FROM ({sql}) q) AS rows"
            for what, sql in bad.items()))
        bad = {row["what"]: QUERIES[row["what"]] for row in rows or [] if row["rows"]}
        if rows is not None and not bad:
            return []
        time.sleep(0.25)
    return [f"{row['what']}: {row['rows']}" for row in rows or [] if row["rows"]]


def abandoned(path, before):
    """Begun before then, and nobody is at it: a start of the daemon has passed it over."""
    try:
        with open(path, "rb") as f:
            if os.fstat(f.fileno()).st_mtime >= before:
                return False
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except OSError:
        return False


def check_artefacts(bed):
    bad = []
    folder = os.path.join(bed.state, "artefacts")
    rows = bed.query("SELECT sha256, size_bytes FROM artefact") or []
    for row in rows:
        path = os.path.join(folder, row["sha256"][:2], row["sha256"])
        try:
            with open(path, "rb") as f:
                data = f.read()
        except OSError as e:
            bad.append(f"artefact without file: {e}")
            continue
        if hashlib.sha256(data).hexdigest() != row["sha256"] or len(data) != row["size_bytes"]:
            bad.append(f"artefact altered: {path}")
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            if not re.fullmatch("[0-9a-f]{64}", name) and abandoned(path, bed.started):
                bad.append(f"stray file {path}")
    return bad


def check_mails(bed):
    """Each recipient got each mail once; twice only after a try whose answer was lost."""
    bad = []
    count = collections.Counter()
    for number, (rcpt, _) in enumerate(bed.mail.mails):
        count[rcpt, bed.mail_parsed(number)["Message-ID"]] += 1
    for (rcpt, message_id), n in count.items():
        tries = bed.one("SELECT r.attempts FROM outbox o JOIN outbox_rcpt r ON r.outbox = o.id "
                        f"WHERE trim(o.message_id, '<>') = '{message_id.strip('<>')}' AND r.addr = '{rcpt}'")
        if tries is None or n > tries or n > 2:
            bad.append(f"{rcpt} got {message_id} {n} times in {tries} tries")
    return bad


def check(bed):
    bad = check_database(bed) + check_artefacts(bed) + check_mails(bed)
    if "AddressSanitizer" in bed.log_text() or "runtime error:" in bed.log_text():
        bad.append("a sanitizer spoke, see the log")
    if bad:
        raise Failure("checker: " + "\n  ".join(bad))
    bed.say(f"checker: {len(QUERIES)} queries, artefacts and mails are clean")
