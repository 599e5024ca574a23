#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real SMTP server (aiosmtpd) on loopback: sink.py FOLDER [CERTIFICATE]

Prints "port N". Each mail is written as it came, dots undoubled, to FOLDER/N.eml, its envelope to
FOLDER/N.env. Ends when its standard input ends."""
import asyncio
import logging
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


class Sink:
    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    async def handle_DATA(self, server, session, envelope):
        self.count += 1
        with open(f"{self.folder}/{self.count}.eml", "wb") as f:
            f.write(envelope.original_content)
        with open(f"{self.folder}/{self.count}.env", "w", encoding="utf-8") as f:
            f.write(f"{envelope.mail_from} {' '.join(envelope.rcpt_tos)} {session.host_name}\n")
        return "250 kept"


def authenticator(server, session, envelope, mechanism, data):
    good = data.login == b"bot" and data.password == b"secret word"
    return AuthResult(success=good, handled=False)


async def main():
    logging.disable()
    sink = Sink(sys.argv[1])
    tls = None
    if len(sys.argv) > 2:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(sys.argv[2])

    def protocol():
        return SMTP(sink, hostname="sink.example.org", tls_context=tls, require_starttls=bool(tls),
                    auth_required=bool(tls), authenticator=authenticator)

    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocol, "127.0.0.1", 0)
    print("port", server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(main())
