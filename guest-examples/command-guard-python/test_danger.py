"""Run with `pytest`, or `python3 -m unittest`."""

import unittest

from command_guard_python import guard
from danger import find
from hookbox import ToolCall, deny

COMMANDS = {
    "rm -rf /": "`rm -rf`",
    "r'm' \"-rf\" x": "`rm -rf`",
    "\\rm -rf x": "`rm -rf`",
    "rm --rec -f x": "`rm -rf`",
    "sudo -u root env A=1 rm -rf x": "`rm -rf`",
    "find . -name x -exec rm -rf {} +": "`rm -rf`",
    'echo "`rm -rf x`"': "`rm -rf`",
    'echo "a $(rm -rf x) b"': "`rm -rf`",
    'sudo sh -ec "cd /; rm -rf x"': "`rm -rf`",
    "rm${IFS}-rf${IFS}x": "`rm -rf`",
    "rm \\\n -rf x": "`rm -rf`",
    "< list rm -rf x": "`rm -rf`",
    "dd bs=1M if=image": "`dd if=`",
    "sudo mkfs.ext4 -F /dev/sdb": "`mkfs`",
    "cat image >> /tmp/../dev/sda": "writing to `/dev/sda`",
    "cat image &> /dev/sda": "writing to `/dev/sda`",
    "cat image | sudo tee /dev/sda": "writing to `/dev/sda`",
    "rm -- -rf": None,
    "git rm -rf x": None,
    "git commit -m 'never run rm -rf /'": None,
    "ls > /dev/null 2>&1": None,
    "echo x > dev/sda": None,
    "ls # rm -rf x": None,
    "é 'ü' \"ö\"": None,
    "": None,
}


class Danger(unittest.TestCase):
    def test_commands(self) -> None:
        for command, why in COMMANDS.items():
            with self.subTest(command):
                self.assertEqual(find(command), why)
        self.assertIsNotNone(find("$(" * 10_000))

    def test_the_reason_is_told(self) -> None:
        self.assertEqual(guard(ToolCall("Bash", {"command": "rm -rf /"})), deny("`rm -rf` is not allowed here"))
        self.assertIsNone(guard(ToolCall("Bash", {"command": 5})))
        self.assertIsNone(guard(ToolCall("Read", {"file_path": "/etc/passwd"})))
