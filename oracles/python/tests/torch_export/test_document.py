"""The worked example of docs/pytorch.md gives what the page says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from checker import BINARY, NEEDED

ROOT = Path(__file__).resolve().parents[4]


@NEEDED
class Document(unittest.TestCase):
    def test_the_worked_example(self):
        page = (ROOT / "docs/pytorch.md").read_text()
        network, module = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        (session,) = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "oracles/python"), "PYTHONWARNINGS": "ignore"}
        programs = {"python": sys.executable, "certkern": str(BINARY)}
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "net.py").write_text(network)
            for step in session.split("$ ")[1:]:
                line, wanted = step.split("\n", 1)
                program, *arguments = shlex.split(line)
                done = subprocess.run([programs[program], *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)
                with self.subTest(line=line):
                    self.assertEqual(done.stderr + done.stdout, wanted)
            written = Path(folder, "model/model.py").read_text()
            self.assertTrue(written.endswith(module), written)


if __name__ == "__main__":
    unittest.main()
