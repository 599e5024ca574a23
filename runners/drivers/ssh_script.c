/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plain sh, and what each system has: no awk, no bash. Values are quoted words; hashes, boot ids and
 * nonces are letters, digits and '-', which their makers have checked.
 */
#include "runners/drivers/ssh_script.h"

#include "bot/base/strbuf.h"
#include "runners/drivers/ssh_remote.h"

#include <string.h>

static const char boot_id[] = "b=$(cat /proc/sys/kernel/random/boot_id)\n";

/* Detached from the connection, with a moment for it to close. */
#define LATER(command)                                                                    \
	"( setsid sh -c 'sleep 0.5 || sleep 1; sync; " command "' </dev/null >/dev/null " \
	"2>&1 & )\n"

/* "DIR/files/NAME" as a quoted word. */
static void add_file(struct strbuf *b, const struct lab_ssh *s, const char *name)
{
	_cleanup_(freep) char *path =
		xasprintf("%s/files/%s", s->dir ? s->dir : "/var/lib/kperfbot-agent", name);

	ssh_quote_add(b, path);
}

static void add_dir(struct strbuf *b, const struct lab_ssh *s)
{
	strbuf_addstr(b, "d=");
	ssh_quote_add(b, s->dir ? s->dir : "/var/lib/kperfbot-agent");
	strbuf_addstr(b, "\numask 077\n");
}

/* Sets s and t to session and start time of a process; its name may hold anything. */
static const char process[] = "process() {\n"
			      "	read -r l 2>/dev/null </proc/$1/stat || return 1\n"
			      "	set -- ${l##*) }\n"
			      "	s=$4 t=${20}\n"
			      "}\n";

/*
 * An agent and its commands are one session, whose number cannot be given to anybody else while one of
 * them lives. They get a chance to put the machine's settings back.
 */
static const char end_leftovers[] =
	"process self\n"
	"own=$s\n"
	"if read -r ob os ot 2>/dev/null <\"$d/session\" && [ \"$ob\" = \"$b\" ] &&\n"
	"	[ \"$os\" != \"$own\" ]; then\n"
	"	if process \"$os\" && [ \"$t\" != \"$ot\" ]; then os=; fi\n"
	"	for sig in TERM KILL; do\n"
	"		n=0\n"
	"		for p in /proc/[0-9]*; do\n"
	"			p=${p#/proc/}\n"
	"			process $p && [ \"$s\" = \"$os\" ] && kill -$sig $p && n=1 && echo \"killed $p\"\n"
	"		done\n"
	"		[ $n = 0 ] && break\n"
	"		sleep 1\n"
	"	done\n"
	"fi\n"
	"rm -f \"$d/session\"\n";

static const char room[] =
	"want() {\n"
	"	f=$d/files/$1\n"
	"	if [ -f \"$f\" ] && [ \"$(sha256sum <\"$f\" | cut -c 1-64)\" = $1 ]; then\n"
	"		touch \"$f\"\n"
	"		have=\"$have $1\"\n"
	"		echo \"have $1\"\n"
	"	else\n"
	"		rm -f \"$f\"\n"
	"		need=$((need + $2))\n"
	"	fi\n"
	"}\n"
	"free() { df -Pk \"$d\" | sed -n '2s/.* \\([0-9][0-9]*\\)  *[0-9]*%.*/\\1/p'; }\n"
	"rm -f \"$d\"/files/*.part\n"
	"need=0 have=\n";

static const char prune[] =
	"cd \"$d/files\" || exit 3\n"
	"ls -t | tail -n +$((keep + 1)) | while read -r f; do rm -f \"$f\"; done\n"
	"if [ \"$(free)\" -lt $((need + 1024)) ]; then\n"
	"	for f in *; do\n"
	"		case \" $have \" in *\" $f \"*) ;; *) rm -f \"$f\" ;; esac\n"
	"	done\n"
	"fi\n"
	"echo \"free_kb $(free)\"\n"
	"echo \"need_kb $need\"\n";

char *ssh_script_reach(const struct lab_ssh *s, const struct ssh_file *files, size_t n)
{
	struct strbuf b = STRBUF_INIT;

	add_dir(&b, s);
	strbuf_addstr(&b, "mkdir -p \"$d/files\" || exit 3\n");
	strbuf_addstr(&b, boot_id);
	strbuf_addstr(&b,
		      "echo \"boot_id $b\"\necho \"release $(uname -r)\"\necho \"uid $(id -u)\"\n");
	strbuf_addstr(&b, process);
	strbuf_addstr(&b, end_leftovers);
	strbuf_addstr(&b, room);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&b, "want %s %zu\n", files[i].hash,
			    (files[i].size_bytes + 1023) / 1024);
	strbuf_addf(&b, "keep=%d\n", SSH_KEPT_FILES);
	strbuf_addstr(&b, prune);
	return strbuf_take(&b);
}

char *ssh_script_copy(const struct lab_ssh *s, const char *hash)
{
	struct strbuf b = STRBUF_INIT;

	strbuf_addstr(&b, "umask 077\nf=");
	add_file(&b, s, hash);
	strbuf_addstr(&b, "\ncat >\"$f.part\" || { rm -f \"$f.part\"; exit 3; }\n");
	strbuf_addf(&b,
		    "if [ \"$(sha256sum <\"$f.part\" | cut -c 1-64)\" != %s ]; then\n"
		    "	rm -f \"$f.part\"\n"
		    "	exit %d\n"
		    "fi\n",
		    hash, SSH_EXIT_DAMAGED);
	strbuf_addstr(&b, "chmod 700 \"$f.part\" && mv -f \"$f.part\" \"$f\" && sync\n");
	return strbuf_take(&b);
}

/*
 * The command line of the machine's own system is remembered, since a kernel of an earlier run may be
 * the one that runs now. What a boot loader or a run has added goes.
 */
static const char own_append[] =
	"set -f\n"
	"c=$(cat /proc/cmdline)\n"
	"case \" $c \" in\n"
	"*\" kperfbot.nonce=\"*) [ -s \"$d/cmdline\" ] && c=$(cat \"$d/cmdline\") ;;\n"
	"*) printf '%s\\n' \"$c\" >\"$d/cmdline\" ;;\n"
	"esac\n"
	"a=\n"
	"for w in $c; do\n"
	"	case $w in\n"
	"	BOOT_IMAGE=* | initrd=* | kperfbot.* | panic=* | oops=*) ;;\n"
	"	*) a=\"$a${a:+ }$w\" ;;\n"
	"	esac\n"
	"done\n";

char *ssh_script_boot(const struct lab_ssh *s, const char *hash, const char *append)
{
	bool by_command = s->boot && !strcmp(s->boot, "command");
	struct strbuf b = STRBUF_INIT;

	add_dir(&b, s);
	strbuf_addstr(&b, own_append);
	strbuf_addstr(&b, "a=\"$a \"");
	ssh_quote_add(&b, append);
	strbuf_addstr(&b, "\nKERNEL=");
	add_file(&b, s, hash);
	strbuf_addstr(&b, "\nINITRD=");
	ssh_quote_add(&b, s->initrd ? s->initrd : "");
	strbuf_addstr(&b, "\n");
	if (by_command) {
		strbuf_addstr(&b, "APPEND=$a\nexport KERNEL INITRD APPEND\nsh -c ");
		ssh_quote_add(&b, s->boot_command);
		strbuf_addf(&b, " </dev/null || exit %d\n", SSH_EXIT_COMMAND);
		strbuf_addstr(&b,
			      LATER("reboot || shutdown -r now || echo b >/proc/sysrq-trigger"));
	} else {
		/*
		 * Without the check of what was loaded, which takes longer than all the rest of the boot
		 * on some machines; a copy is checked where it is made. Machines that take signed kernels
		 * only know the second call alone.
		 */
		for (int i = 0; i < 2; i++)
			strbuf_addf(&b, "kexec %s -l \"$KERNEL\" --command-line=\"$a\" %s%s",
				    i ? "-s" : "--no-checks",
				    "${INITRD:+--initrd=\"$INITRD\"} </dev/null >&2",
				    i ? " " : " ||\n");
		strbuf_addf(&b, "|| exit %d\n", SSH_EXIT_KEXEC);
		/* Not by the system's own way down: that takes as long as it likes. */
		strbuf_addstr(&b, LATER("kexec -e"));
	}
	return strbuf_take(&b);
}

char *ssh_script_agent(const struct lab_ssh *s, const char *agent, const char *workloads,
		       const char *old_boot_id, const char *nonce)
{
	struct strbuf b = STRBUF_INIT;

	add_dir(&b, s);
	strbuf_addstr(&b, boot_id);
	if (old_boot_id) {
		strbuf_addf(&b, "[ \"$b\" != '%s' ] || exit %d\n", old_boot_id, SSH_EXIT_OLD);
		strbuf_addf(
			&b,
			"case \" $(cat /proc/cmdline) \" in *\" kperfbot.nonce=%s \"*) ;;\n"
			"*) echo \"boot_id $b\" >&2; echo \"release $(uname -r)\" >&2; exit %d ;;\n"
			"esac\n",
			nonce, SSH_EXIT_OTHER);
	}
	strbuf_addstr(&b, process);
	/* Where a session is not the command's own, others would be ended with it. */
	strbuf_addstr(&b, "process self && [ $s = $$ ] && echo \"$b $s $t\" >\"$d/session\"\n");
	strbuf_addstr(&b, "exec ");
	add_file(&b, s, agent);
	strbuf_addstr(&b, " --stdio --workloads ");
	add_file(&b, s, workloads);
	if (!old_boot_id)
		strbuf_addf(&b, " --nonce %s", nonce);
	strbuf_addch(&b, '\n');
	return strbuf_take(&b);
}

char *ssh_script_probe(void)
{
	return xasprintf("%secho \"boot_id $b\"\n"
			 "for w in $(cat /proc/cmdline); do\n"
			 "	case $w in kperfbot.nonce=*) echo \"nonce ${w#*=}\" ;; esac\n"
			 "done\n",
			 boot_id);
}

char *ssh_script_reboot(void)
{
	return xstrdup(LATER("echo 1 >/proc/sys/kernel/sysrq; echo b >/proc/sysrq-trigger"));
}
