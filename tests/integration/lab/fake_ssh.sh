#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Stands in for ssh: runs the command here, on a machine that is a folder. $FAKE_DIR holds its boot id
# and its kernel's command line; $FAKE_MODE says how it misbehaves.
for script; do :; done
case $FAKE_MODE in
host-key)
	echo "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @" >&2
	echo "Host key verification failed." >&2
	exit 255
	;;
login) echo "root@host: Permission denied (publickey)." >&2 && exit 255 ;;
refused) echo "ssh: connect to host host port 22: Connection refused" >&2 && exit 255 ;;
banner) echo "Connection timed out during banner exchange" >&2 && exit 255 ;;
silent-failure) exit 255 ;;
stuck) exec sleep 60 ;;
flood) exec cat /dev/zero ;;
no-linux) echo "uname: not here" && exit 0 ;;
esac
# The machine's own /proc.
script=$(printf '%s' "$script" | sed -e "s|/proc/sys/kernel/random/boot_id|$FAKE_DIR/boot_id|g" \
	-e "s|/proc/cmdline|$FAKE_DIR/cmdline|g" \
	-e "s|/proc/sysrq-trigger|$FAKE_DIR/sysrq|g" -e "s|/proc/sys/kernel/sysrq|$FAKE_DIR/sysrq|g")
# shellcheck disable=SC2016 # the script's words, not ours
case $script in
*'cat >"$f.part"'*)
	echo copy >>"$FAKE_DIR/log"
	case $FAKE_MODE in
	full) echo "cat: write error: No space left on device" >&2 && exit 3 ;;
	read-only) echo "sh: cannot create x: Read-only file system" >&2 && exit 3 ;;
	damaged) script="exec 0</dev/null; $script" ;;
	esac
	;;
*"echo 1 >$FAKE_DIR/sysrq"*)
	echo reboot >>"$FAKE_DIR/log"
	echo 66666666-06 >"$FAKE_DIR/boot_id"
	echo quiet >"$FAKE_DIR/cmdline"
	exit 0
	;;
*--stdio*)
	echo agent >>"$FAKE_DIR/log"
	case $FAKE_MODE in
	later-refused) echo "ssh: connect to host host port 22: Connection refused" >&2 && exit 255 ;;
	later-login) echo "root@host: Permission denied (publickey)." >&2 && exit 255 ;;
	later-host-key) echo "Host key verification failed." >&2 && exit 255 ;;
	esac
	;;
esac
PATH=$FAKE_DIR/bin:$PATH
export PATH
# As sshd does: each command is a session of its own, and ends with its connection.
[ "$FAKE_MODE" = same-session ] && exec /bin/sh -c "$script"
exec setsid --wait /bin/sh -c "$script"
