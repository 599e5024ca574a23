# SPDX-License-Identifier: GPL-3.0-or-later
"""A kperfbotd with all that it needs, for one test.

Real: kperfbotd with all roles, its private PostgreSQL, git, the build sandbox
with make and gcc, an SMTP server on loopback.  Stand-ins: the kernel is a
C program of a few lines whose Makefile has the targets that a build needs, and
QEMU is tests/integration/lab/fake_qemu.c, which reads from the image how fast
that commit is or how it fails.  ./demo has the true ones.
"""

import contextlib
import email
import email.policy
import json
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from aiosmtpd.controller import Controller

MAKEFILE = r"""
tinyconfig:
	printf 'CONFIG_A=y\n' >$(O)/.config
olddefconfig: ;
$(O)/a.o: a.c words
	$(CC) -c -o $@ -DWORDS='"<fake:$(shell cat words)>"' $(CURDIR)/a.c
$(O)/vmlinux: $(O)/a.o
	$(CC) -nostdlib -static -Wl,--build-id -Wl,-e,main -o $@ $^
bzImage: $(O)/vmlinux
	mkdir -p $(O)/arch/x86/boot $(O)/include/config
	echo 6.99.0-test >$(O)/include/config/kernel.release
	cp $(O)/vmlinux $(O)/arch/x86/boot/bzImage
"""
SOURCE = """/* NUMBER */
const char words[] = WORDS;
const int number = NUMBER;
int main(void) { return 0; }
"""


# Limits are for a machine of its own; on a busy one things take longer.
PATIENCE = 4


class Failure(Exception):
    """What was expected did not happen."""


def require(condition, text):
    if not condition:
        raise Failure(text)


class Tree:
    """A git repository; each commit says how fast the benchmarks are on it."""

    def __init__(self, path):
        self.path = path + ".work"
        self.url = path
        self.words = {"page_fault1": 1000000, "page_fault2": 2000000}
        self.number = 0
        self.dates = {}   # e.g. GIT_AUTHOR_DATE, for hashes that are the same each time
        os.makedirs(self.path)
        self.git("init", "-q", "--bare", "-b", "master", path)
        self.git("init", "-q", "-b", "master")
        self.put("Makefile", MAKEFILE)

    def git(self, *args, data=None):
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent",
               "GIT_CONFIG_NOSYSTEM": "1",
               "GIT_AUTHOR_NAME": "Ann Author", "GIT_AUTHOR_EMAIL": "ann@example.org",
               "GIT_COMMITTER_NAME": "Carl Committer",
               "GIT_COMMITTER_EMAIL": "carl@example.org", **self.dates}
        r = subprocess.run(["git", "-C", self.path, *args], env=env, input=data,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        require(r.returncode == 0, f"git {args}: {r.stderr.decode()}")
        return r.stdout.decode().strip()

    def put(self, name, text):
        with open(os.path.join(self.path, name), "w", encoding="utf-8") as f:
            f.write(text)

    def commit(self, message="demo: a harmless change", source=None, **changes):
        """Changes what the commit's words say, None takes one out; gives the hash."""
        self.number += 1
        for key, value in changes.items():
            self.words[key] = value
        self.put("words", " ".join(f"{k}={v}" for k, v in self.words.items()
                                   if v is not None))
        self.put("a.c", (source or SOURCE).replace("NUMBER", str(self.number)))
        self.git("add", "-A")
        if isinstance(message, str):
            message = message.encode()
        self.git("commit", "-q", "--cleanup=verbatim", "-F", "-", data=message)
        return self.git("rev-parse", "HEAD")

    def push(self, *what):
        """All branches as they are here, at once."""
        self.git("push", "-q", "--force", self.url, *(what or ["--all", "--prune"]))

    def series(self, drop=0.96):
        """16 commits and a merge; gives the hash of the one that is slower."""
        start = self.git("rev-parse", "HEAD")
        for _ in range(3):
            self.commit()
        for _ in range(2):
            self.commit("demo: does not build", source="int main(void) { return NUMBER + x; }\n")
        self.commit()
        self.git("checkout", "-q", "-b", "side", start)
        self.put("side", "a side branch\n")
        self.git("add", "side")
        self.git("commit", "-q", "-m", "demo: on a side branch")
        self.git("checkout", "-q", "master")
        self.git("merge", "-q", "--no-ff", "-m", "demo: merge the side branch", "side")
        self.git("branch", "-q", "-D", "side")
        self.commit()
        for _ in range(2):
            self.commit("demo: does not boot", mode="boot-panic")
        self.commit("demo: boots again", mode=None)
        planted = self.commit("demo: take a lock more often\n\nIt is simpler so.\n\n"
                              "Signed-off-by: Ann Author <ann@example.org>\n",
                              page_fault1=int(self.words["page_fault1"] * drop))
        for _ in range(4):
            self.commit()
        return planted


def on(bed, branch, start, *args, **changes):
    """A commit on @branch, which begins at @start when it is new; not pushed."""
    have = bed.tree.git("branch", "--list", branch)
    bed.tree.git("checkout", "-q", *([branch] if have else ["-b", branch, start]))
    bed.tree.words = {"page_fault1": 1000000, "page_fault2": 2000000}
    return bed.tree.commit(*args, **changes)


class MailServer:
    """SMTP on loopback; replies holds answers to give before the usual ones."""

    def __init__(self):
        self.mails = []       # (recipient, bytes)
        self.replies = []
        self.controller = None
        self.port = free_port()

    async def handle_DATA(self, _server, _session, envelope):
        if self.replies:
            return self.replies.pop(0)
        for rcpt in envelope.rcpt_tos:
            self.mails.append((rcpt, envelope.original_content))
        return "250 2.0.0 taken"

    def start(self):
        self.controller = Controller(self, hostname="127.0.0.1", port=self.port)
        self.controller.start()

    def stop(self):
        if self.controller:
            self.controller.stop()
        self.controller = None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def processes():
    """Of every process: number, parent and command line."""
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/cmdline", "rb") as f:
                line = f.read().replace(b"\0", b" ").decode(errors="replace")
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                rest = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        if rest[0] != "Z":
            yield int(name), int(rest[1]), line


class Bed:
    def __init__(self, name, build, seed):
        self.name = name
        self.build = build
        self.bin = os.path.join(build, "bin")
        self.random = random.Random(seed)
        self.began = time.monotonic()
        self.dir = tempfile.mkdtemp(prefix="kperfbot-e2e.", dir="/tmp")
        os.chmod(self.dir, 0o755)
        self.state = os.path.join(self.dir, "state")
        self.conf = os.path.join(self.dir, "kperfbot.conf")
        self.log_path = os.path.join(self.dir, "log")
        self.tree = Tree(os.path.join(self.dir, "tree.git"))
        self.mail = MailServer()
        self.mail.start()
        self.web_port = free_port()
        self.daemon = None
        self.started = 0
        self.kills = 0
        self.write_config()
        self.say(f"seed {seed}, folder {self.dir}")

    def say(self, text):
        print(f"[{time.monotonic() - self.began:6.1f}] {self.name}: {text}", flush=True)

    # ---- configuration and processes ----

    def write_config(self, extra="", branch="*"):
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write(f"""
[kperfbot]
	state = {self.state}
	poll = 200ms
	lease = 3s
[web]
	listen = 127.0.0.1:{self.web_port}
[mail]
	server = smtp://127.0.0.1:{self.mail.port}
	tls = off
	host = kperfbot.example.org
	operator = operator@example.org
[build]
	jobs = 2
[tree "demo"]
	url = {self.tree.url}
	branch = {branch}
	poll = 1s
	allow-file = true
	owner = kernel-team@example.org
	mail = open
[kconfig "small"]
	base = tinyconfig
[machine "lab1"]
	driver = qemu
	group = guests
	accel = tcg
	qemu = {self.build}/tests/fake_qemu
[job "page-faults"]
	tree = demo
	group = guests
	kconfig = small
	suite = will-it-scale
	test = page_fault1
	mode = process
	nr-task = 1
	runtime = 5s
[job "asked"]
	group = guests
	kconfig = small
	suite = will-it-scale
	test = page_fault2
	mode = process
	nr-task = 1
	runtime = 5s
{extra}
""")

    def start(self, failpoints=None, commits=None):
        env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:abort_on_error=0",
                   UBSAN_OPTIONS="print_stacktrace=1")
        for name, value in (("KPERFBOT_FAILPOINTS", failpoints), ("KPERFBOT_FAILPOINTS_COMMITS", commits)):
            env.pop(name, None)
            if value:
                env[name] = value
        self.started = time.time()
        with open(self.log_path, "ab") as log:
            self.daemon = subprocess.Popen(
                [os.path.join(self.bin, "kperfbotd"), "--config", self.conf, "-v"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env,
                start_new_session=True)

    def stop(self, limit=10):
        began = time.monotonic()
        self.daemon.send_signal(signal.SIGTERM)
        try:
            status = self.daemon.wait(limit)
        except subprocess.TimeoutExpired:
            raise Failure(f"SIGTERM did not end kperfbotd within {limit} s") from None
        require(status == 0, f"kperfbotd ended with status {status}")
        self.daemon = None
        return time.monotonic() - began

    def bot_processes(self):
        return [pid for pid, _, line in processes()
                if "kperfbotd" in line and self.conf in line]

    def database_processes(self):
        all_of_them = list(processes())
        head = [pid for pid, _, line in all_of_them
                if f"{self.state}/pg/data" in line and "postgres" in line]
        return head + [pid for pid, parent, _ in all_of_them if parent in head]

    def kill(self, pids):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.kills += len(pids)

    def kill_all(self, database=False):
        """kill -9 of everything at once; what they started must end by itself."""
        self.kill(self.bot_processes() + (self.database_processes() if database else []))
        # One that was started a moment ago does not have its own words yet.
        self.daemon.kill()
        self.daemon.wait()
        self.daemon = None

    def left_over(self):
        """Processes that use our folder, in their words or as a mount."""
        found = []
        mine = os.getpid()
        for pid, _, line in processes():
            try:
                with open(f"/proc/{pid}/mountinfo", encoding="utf-8", errors="replace") as f:
                    mounted = self.dir in f.read()
                where = os.readlink(f"/proc/{pid}/cwd")
            except OSError:
                continue
            if pid != mine and (self.dir in line or mounted or where.startswith(self.dir)):
                found.append(f"{pid} {line[:100]}")
        return found

    # ---- looking ----

    def psql_command(self, sql):
        cmd = []
        if pwd.getpwuid(os.getuid()).pw_name == "root":
            cmd = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        return cmd + ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql,
                      f"host={self.state}/pg/sock user=kperfbot dbname=postgres"]

    def psql(self, sql):
        """What psql prints; None while the database is away."""
        r = subprocess.run(
            self.psql_command(sql),
            cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if r.returncode:
            text = r.stderr.decode(errors="replace")
            if r.returncode == 2 or "does not exist" in text or "terminating" in text:
                return None
            raise Failure(f"{sql[:200]}: {text}")
        return r.stdout.decode().strip()

    def query(self, sql):
        """Rows as dicts; None while the database is away."""
        text = self.psql(f"SELECT coalesce(json_agg(t), '[]') FROM ({sql}) t")
        return None if text is None else json.loads(text)

    def one(self, sql):
        rows = self.query(sql)
        return next(iter(rows[0].values())) if rows else None

    def wait(self, what, test, limit=60):
        """Until @test, a query or a function, gives something. @what: None to say nothing."""
        end = time.monotonic() + PATIENCE * limit
        while time.monotonic() < end:
            got = self.query(test) if isinstance(test, str) else test()
            if got:
                if what:
                    self.say(what)
                return got
            if self.daemon:
                require(self.daemon.poll() is None,
                        f"kperfbotd ended with status {self.daemon.returncode}")
            time.sleep(0.2)
        raise Failure(f"not within {PATIENCE * limit} s: {what or test}")

    def kperfbot(self, *args):
        r = subprocess.run([os.path.join(self.bin, "kperfbot"), "-C", self.conf, *args],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                           env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
        return r.returncode, r.stdout.decode(errors="replace"), r.stderr.decode(errors="replace")

    def log_text(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def measured(self, commit):
        return self.wait(f"baseline {commit[:12]} measured",
                         f"SELECT id FROM boot WHERE commit = '{commit}' AND state = 'done'")

    def compared(self, head, limit=60, base=None):
        rows = self.wait(f"head {head[:12]} compared",
                         f"SELECT base, verdict, state, detail FROM comparison WHERE head = '{head}' "
                         "AND state <> 'open'" + (f" AND base = '{base}'" if base else ""), limit)
        return rows[-1]

    def reported(self, planted, limit=90):
        """The regression in its last state, its commit being @planted; the mail has gone out."""
        row = self.wait("regression reported",
                        "SELECT * FROM regression WHERE state = 'reported'", limit)[-1]
        require(row["culprit"] == planted,
                f"named {row['culprit']}, planted {planted}: {self.log_of(planted)}")
        self.wait("mail handed over",
                  "SELECT 1 FROM outbox WHERE NOT EXISTS (SELECT FROM outbox_rcpt r "
                  "WHERE r.outbox = outbox.id AND r.state <> 'sent')", limit)
        return row

    def log_of(self, commit):
        return self.query(f"SELECT * FROM bisect_step WHERE commit = '{commit}'")

    def mail_parsed(self, number=0):
        return email.message_from_bytes(self.mail.mails[number][1],
                                        policy=email.policy.default)

    # ---- ends ----

    def show_failure(self, error):
        print(""); self.say(f"FAILED: {error}")
        tail = [l for l in self.log_text().splitlines() if not l.startswith("<7>")][-60:]
        print("\n".join(tail))
        for sql in ("SELECT id, kind, state, dedupe, attempts, crashes, run_at, last_error FROM work "
                    "WHERE state <> 'done' ORDER BY id",
                    "SELECT id, base, head, state, verdict, look, detail FROM comparison",
                    "SELECT id, state, regression, good, bad, result FROM bisection",
                    "SELECT * FROM machine", "SELECT * FROM tree",
                    "SELECT n, commit, verdict, reason, p_bad, rel, boots, runs FROM bisect_step "
                    "ORDER BY bisection, n",
                    "SELECT outbox, addr, state, attempts, code, answer FROM outbox_rcpt"):
            try:
                for row in self.query(sql) or []:
                    print(row)
            except Failure:
                pass

    def clean(self, keep):
        if self.daemon:
            self.kill(self.bot_processes())
        self.kill(self.database_processes())
        self.mail.stop()
        if keep:
            self.say(f"kept: {self.dir}")
        else:
            shutil.rmtree(self.dir, ignore_errors=True)


@contextlib.contextmanager
def another(bed):
    """A fresh one beside @bed: nothing is known there."""
    other = Bed(bed.name, bed.build, bed.random.randrange(1 << 30))
    failed = True
    try:
        yield other
        failed = False
    except Failure as e:
        other.show_failure(e)
        raise
    finally:
        bed.kills += other.kills
        other.clean(failed)


def run(name, scenario):
    """Program of one test: --build FOLDER [--seed N] [--keep]."""
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    bed = Bed(name, os.path.abspath(args.build), args.seed)
    # A time limit of ctest must not leave processes behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    failed = True
    try:
        scenario(bed)
        failed = False
        bed.say(f"passed, {bed.kills} kills")
    except Failure as e:
        bed.show_failure(e)
    finally:
        bed.clean(args.keep or failed)
    return 1 if failed else 0
