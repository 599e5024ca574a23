/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/integration/web/fixture.h"

#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "tests/pg.h"

#include <string.h>

static void add_commit(struct strbuf *b, const char *hash, const char *parent, const char *subject)
{
	strbuf_addf(b,
		    "INSERT INTO commit VALUES ('%s', ARRAY[%s%s%s]::text[], %s, 'Jane Developer', "
		    "'jane@example.org', '2030-11-01 10:00Z', 'Max Committer', 'max@example.org', "
		    "'2030-11-02 10:00Z', 'message');\n",
		    hash, parent ? "'" : "", parent ? parent : "", parent ? "'" : "", subject);
}

static void add_boots(struct strbuf *b, const char *hash, double mean)
{
	for (int boot = 0; boot < 4; boot++) {
		strbuf_addf(
			b,
			"WITH b AS (INSERT INTO boot (commit, build, job, comparison, wanted_runs, "
			"state, class, machine, console, boot_s, took_s, started, finished) "
			"SELECT '%s', min(id), 1, 1, 3, 'done', 'ok', 'q1', '%064d', 1.5, 20, "
			"'2030-11-03 10:0%d:00Z', '2030-11-03 10:0%d:30Z' FROM build WHERE "
			"commit = '%s' RETURNING id) "
			"INSERT INTO run (boot, n, class, raw, exit_status, wall_s, at) "
			"SELECT b.id, n, 'ok', '%064d', 0, 5, timestamptz '2030-11-03 10:0%d:00Z' + n * "
			"interval '5 s' FROM b, generate_series(1, 3) n;\n",
			hash, 1, boot * 2, boot * 2, hash, 2, boot * 2);
		strbuf_addf(
			b,
			"INSERT INTO run_values SELECT r.id, 1, ARRAY[%f + (r.id * 7919 %% 13) * 40, "
			"300 + r.id] FROM run r WHERE NOT EXISTS "
			"(SELECT FROM run_values v WHERE v.run = r.id);\n",
			mean);
	}
}

static const char *const things =
	"INSERT INTO tree VALUES ('linus', 'https://git.example.org/linux.git', now(), now(), 0, NULL),"
	"('broken', 'https://git.example.org/none.git', now(), NULL, 3, 'could not resolve host'),"
	"('evil<b>', 'x', NULL, NULL, 0, '<script>alert(1)</script>');\n"
	"INSERT INTO head VALUES ('linus', 'master', '" H_HEAD "', now() - interval '2 h'),"
	"('linus', 'evil', '" H_EVIL "', now());\n"
	"INSERT INTO head_event (tree, branch, kind, old, new) VALUES "
	"('linus', 'master', 'first', NULL, '" H_BASE "'),"
	"('linus', 'master', 'moved', '" H_BASE "', '" H_HEAD "');\n"
	"INSERT INTO artefact SELECT lpad(n::text, 64, '0'), 10, 'log' FROM generate_series(1, 9) n;\n"
	"INSERT INTO build (commit, kconfig, kconfig_hash, compiler, state, log, took_s, finished) "
	"SELECT hash, 'tiny', 'k', 'gcc', 'ok', lpad('3', 64, '0'), 42, now() FROM commit "
	"WHERE hash <> '" H_BUILD "';\n"
	"INSERT INTO build (commit, kconfig, kconfig_hash, compiler, state, fail_class, detail, log, "
	"took_s, finished) VALUES ('" H_BUILD "', 'tiny', 'k', 'gcc', 'failed', 'build', "
	"'mm/demo.c:12: error: <oops>', lpad('4', 64, '0'), 12, now());\n"
	"INSERT INTO job (name, def_hash, suite, test, params, metric, group_name, kconfig, thp, "
	"runs_per_boot, min_effect, timeout_s) VALUES ('pf1', 'd', 'will-it-scale', 'page_fault1', "
	"'{\"mode\":\"process\",\"nr-task\":\"1\"}', 'will-it-scale.per_process_ops', 'q', 'tiny', "
	"'never', 3, 0.01, 600);\n"
	"INSERT INTO machine (name, group_name, driver, last_seen) VALUES ('q1', 'q', 'qemu', now());\n"
	"INSERT INTO machine (name, group_name, driver, health, note, drained_by, drained_at) VALUES "
	"('q2', 'q', 'qemu', 'quarantined', '<img src=x onerror=alert(1)>', 'kperfbot', now());\n"
	"INSERT INTO machine_event (machine, kind, by, text) VALUES "
	"('q2', 'fault', 'kperfbot', '<b>no power</b>'), ('q2', 'drain', '<i>joe</i>', 'new disk');\n"
	"INSERT INTO metric (name, unit, better, kind, headline, about) VALUES "
	"('will-it-scale.per_process_ops', 'ops/s', 'higher', 'rate', true, 'operations a second'),"
	"('ctx', '1/s', 'none', 'rate', false, 'context switches');\n"
	"INSERT INTO metric_layout (metrics, digest) VALUES (ARRAY[1, 2], '\\x01');\n"
	"INSERT INTO comparison (tree, branch, base, head, job, state, verdict, look, rel, lo, hi, p, "
	"evidence, plan, machine, finished) VALUES ('linus', 'master', '" H_BASE "', '" H_HEAD
	"', 1, 'done', "
	"'regression', 4, -0.038, -0.0433, -0.0327, 1e-6, '{\"format\":\"kperfbot-verdict/1\",\"findings\":["
	"{\"headline\":\"will-it-scale.per_process_ops\",\"checks\":[{\"name\":\"aa\",\"rel\":0.001,\"lo\":-0.004,"
	"\"hi\":0.006,\"p\":0.7,\"n\":4,\"ok\":true},{\"name\":\"bb<b>\",\"rel\":-0.02,\"lo\":-0.03,\"hi\":-0.01,"
	"\"p\":0.0004,\"n\":4,\"ok\":false}],\"follows\":[{\"name\":\"faults\",\"rel\":-0.066}],\"text\":["
	"\"will-it-scale.per_process_ops fell by 3.8%\",\"faults fell by 6.6% with it <script>\",7]}],\"metrics\":["
	"{\"name\":\"will-it-scale.per_process_ops\",\"verdict\":\"regression\",\"rel\":-0.038,\"lo\":-0.0433,"
	"\"hi\":-0.0327,\"level\":0.95,\"p\":1e-6,\"fresh_rel\":-0.037,\"base\":{\"n\":12,\"boots\":4,\"center\":45915,"
	"\"sd\":251},\"head\":{\"n\":12,\"boots\":4,\"center\":44170,\"sd\":270,\"modes\":[{\"share\":0.75,\"center\":"
	"43900},{\"share\":0.25,\"center\":44990}]},\"notes\":[\"<i>note</i>\"]},"
	"{\"name\":\"faults\",\"verdict\":\"change\",\"rel\":-0.066,\"lo\":-0.07,\"hi\":-0.06,\"per_work\":0.0002,"
	"\"follows\":\"will-it-scale.per_process_ops\"},"
	"{\"name\":\"ctx\",\"verdict\":\"same\",\"rel\":0.001,\"lo\":-0.002,\"hi\":0.003}]}', "
	"'{\"commits\":31,\"boot_sd\":0.011,\"looks\":[{\"boots\":3,\"detectable\":0.045},{\"boots\":4,\"detectable\":"
	"0.031},{\"boots\":8,\"detectable\":0.021}]}', 'q1', now());\n"
	"INSERT INTO comparison (tree, branch, base, head, job, look, plan) VALUES "
	"('linus', 'evil', '" H_BASE "', '" H_EVIL
	"', 1, 4, '{\"looks\":[{\"boots\":3,\"detectable\":"
	"0.045},{\"boots\":5,\"detectable\":0.021}]}');\n"
	"INSERT INTO comparison (tree, branch, base, head, job, look, purpose, target, state, verdict, rel, lo, "
	"hi, p, evidence, detail, finished) VALUES ('linus', 'master', '" H_CULP "', '" H_EVIL
	"', 1, 5, 'confirm', "
	"0.02, 'done', 'same', 0.001, -0.004, 0.006, 0.6, '{\"findings\":[],\"metrics\":[{\"name\":"
	"\"will-it-scale.per_process_ops\",\"verdict\":\"same\",\"power\":{\"detectable\":0.01}},"
	"{\"verdict\":7},\"<b>\"]}', 'a <b>detail', now()),"
	"('linus', 'master', '" H_BASE "', '" H_CULP
	"', 1, 0, 'layout', NULL, 'open', NULL, NULL, NULL, NULL, "
	"NULL, '{\"findings\":7,\"metrics\":\"x\"}', NULL, NULL);\n";

/* Change points of every state, on the branch whose middle commit was not measured. */
static const char *const series =
	"INSERT INTO series (id, tree, branch, job, machine, metric) VALUES ('s41c9d0e', 'linus', 'master', 1, 'q1', "
	"'will-it-scale.per_process_ops'), ('s2222222', 'evil<b>', 'x<b>', 1, 'q2', 'gone.metric<b>');\n"
	"INSERT INTO comparison (tree, branch, base, head, job, look) VALUES "
	"('linus', 'master', '" H_HEAD "', '" H_BUILD "', 1, 3), ('linus', 'master', '" H_BUILD
	"', '" H_CULP "', 1, 3);\n"
	"INSERT INTO change_point (series, first, last, rel, p, state, comparison, detail) VALUES "
	"('s41c9d0e', '" H_HEAD "', '" H_BASE "', -0.027, 1e-9, 'confirmed', 1, NULL), "
	"('s41c9d0e', '" H_CULP "', '" H_HEAD
	"', -0.001, 0.001, 'drift', NULL, 'the control build <b>moved with it'), "
	"('s41c9d0e', '" H_BUILD "', '" H_HEAD "', 0.02, 0.001, 'refuted', 3, NULL), "
	"('s41c9d0e', '" H_EVIL "', '" H_HEAD "', 0.02, 0.001, 'went-away', NULL, NULL);\n";

static const char *const findings =
	"INSERT INTO regression (id, state, tree, branch, job, comparison, metric, rel, lo, hi, level, "
	"base, head, culprit, p) VALUES ('r7f3k2qa', 'reported', 'linus', 'master', 1, 1, "
	"'will-it-scale.per_process_ops', -0.038, -0.0433, -0.0327, 0.95, '" H_BASE "', '" H_HEAD
	"', '" H_CULP "', 0.992);\n"
	"INSERT INTO regression (id, state, class, tree, branch, job, metric, rel, lo, hi, level, base, "
	"head) VALUES ('r2222222', 'confirmed', 'broad', 'linus', 'evil', 1, "
	"'will-it-scale.per_process_ops', -0.1, -0.12, -0.08, 0.95, '" H_BASE "', '" H_EVIL "'),"
	"('r3333333', 'invalid', 'micro', 'linus', 'evil', 1, 'gone.metric', -0.1, -0.12, -0.08, 0.95, "
	"'" H_BASE "', '" H_EVIL "');\n"
	"INSERT INTO regression_history (regression, from_state, to_state, by, why) VALUES "
	"('r7f3k2qa', NULL, 'confirmed', 'detect', '12 + 12 runs'),"
	"('r7f3k2qa', 'confirmed', 'reported', 'mail', 'released <b>');\n"
	"INSERT INTO regression_fix (regression, commit, says, by_title, tip) VALUES ('r7f3k2qa', '" H_EVIL
	"', 'reverts', true, '" H_HEAD "');\n"
	"INSERT INTO bisection (id, regression, tree, good, bad, job, metric, state, dedupe, request, "
	"asked_by, status, result, started, finished) VALUES ('b5k2p9xm', 'r7f3k2qa', 'linus', '" H_BASE
	"', '" H_HEAD "', 1, 'will-it-scale.per_process_ops', 'done', 'x1', '{}', 'kperfbot', "
	"'{\"posterior\":[{\"commit\":\"" H_EVIL "\",\"p\":0.005},{\"commit\":\"" H_CULP
	"\",\"p\":0.992},{\"commit\":\"" H_HEAD "\",\"p\":0.003}],\"steps\":{\"done\":3},\"boots\":"
	"{\"used\":21,\"max\":200},\"runs\":{\"used\":63,\"max\":600},\"machine_hours\":0.05,\"effective_left\":1.1,\"state_text\":\"named\"}', "
	"'{\"culprit\":\"" H_CULP
	"\",\"p\":0.992,\"effect\":{\"rel\":-0.038,\"lo\":-0.043,\"hi\":-0.033,"
	"\"level\":0.95},\"text\":\"first bad commit found\"}', now(), now());\n"
	"INSERT INTO bisection (id, tree, good, bad, job, metric, state, dedupe, request, asked_by, "
	"status) VALUES ('b2222222', 'linus', '" H_BASE "', '" H_EVIL "', 1, "
	"'will-it-scale.per_process_ops', 'running', 'x2', '{\"note\":\"<u>note</u>\",\"commits\":5}', "
	"'t1234567', '{\"posterior\":\"nonsense\",\"state_text\":\"<s>measuring\"}');\n"
	"INSERT INTO bisect_step VALUES ('b5k2p9xm', 1, '" H_CULP
	"', 'bad', 0.99, -0.039, 4, 12, 8.0, "
	"NULL, NULL, 94, now()), ('b5k2p9xm', 2, '" H_BUILD
	"', 'skip', NULL, NULL, 0, 0, 7.5, 'build', "
	"'mm/demo.c:12: error', 12, now()), ('b5k2p9xm', 3, '" H_EVIL
	"', 'good', 0.01, 0.001, 4, 12, 1.1, "
	"NULL, NULL, 90, now());\n"
	"INSERT INTO outbox (regression, kind, seq, message_id, subject, bytes) VALUES ('r7f3k2qa', "
	"'report', 1, '<r7f3k2qa-1.20301106@perf.example.org>', '[linus:master] <script> -3.8%', "
	"convert_to(E'From: kperfbot\\r\\nSubject: x\\r\\n\\r\\n<script>alert(2)</script> ', 'UTF8') || "
	"'\\xff');\n"
	"INSERT INTO outbox_rcpt (outbox, addr, reason, state, sent) VALUES (1, 'jane@example.org', "
	"'author', 'sent', now());\n"
	"INSERT INTO work (kind, state, payload, last_error) VALUES ('build', 'ready', '{\"build\":7}', "
	"NULL), ('boot', 'ready', '{\"note\":\"<script>\",\"boot\":\"x\"}', NULL), ('detect', 'leased', '{\"comparison\":2}', NULL), ('bisect', 'quarantined', '{}', "
	"'three <b>crashes');\n"
	"INSERT INTO work (kind, state, lease_owner, lease_until) VALUES ('boot', 'leased', 'host:1', "
	"now() + interval '1 min');\n";

void fixture_fill(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	add_commit(&b, H_BASE, NULL, "'mm/demo: tidy comments'");
	add_commit(&b, H_CULP, H_BASE, "'mm/demo: take the range lock before the walk'");
	add_commit(&b, H_BUILD, H_CULP, "'mm/demo: break the build'");
	add_commit(
		&b, H_EVIL, H_BUILD,
		"'<script>alert(\"x\")</script>' || E'\\x1b[31m red \\u202E evil \"''&' || repeat('A', "
		"10000)");
	add_commit(&b, H_HEAD, H_EVIL, "'Merge branch demo'");
	strbuf_addstr(&b, things);
	add_boots(&b, H_BASE, 45915);
	add_boots(&b, H_HEAD, 44170);
	add_boots(&b, H_CULP, 44150);
	strbuf_addstr(&b, series);
	strbuf_addstr(&b, findings);
	pg_exec(strbuf_str(&b));
}
