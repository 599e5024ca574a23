#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Stands in for kexec on the machine of fake_ssh.sh.
case $* in
-e)
	# Late, from the test before.
	[ "$(cat "$FAKE_DIR/run")" = "$FAKE_RUN" ] || exit 0
	case $FAKE_MODE in
	stays) ;;
	goes-back) echo "22222222-$$" >"$FAKE_DIR/boot_id" ;;
	*)
		cp "$FAKE_DIR/next" "$FAKE_DIR/cmdline"
		echo "33333333-$$" >"$FAKE_DIR/boot_id"
		;;
	esac
	;;
*-l*)
	[ "$FAKE_MODE" = refuses ] && echo "kexec_load failed: Operation not permitted" >&2 && exit 1
	for word; do
		case $word in --command-line=*) echo "${word#*=}" >"$FAKE_DIR/next" ;; esac
	done
	;;
esac
exit 0
