"""A real Slurm on this machine: munged, slurmctld and slurmd, with a small slurm.conf."""

import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

from tests.cluster.processes import until

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "squeue", "sinfo")
CONF = """
ClusterName=bears
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={controller}
SlurmdPort={daemon}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
KillWait=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory=1000 State=UNKNOWN
PartitionName=den Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """Why there can be no Slurm here; empty if there can."""
    lacking = [name for name in NEEDED if _path(name) is None]
    if lacking:
        return f"no Slurm here ({lacking[0]} not found): apt install slurm-wlm munge"
    return "" if os.geteuid() == 0 else "Slurm's daemons are started by root only"


class RealSlurm:
    """One controller and one node, on free ports and in a separate folder."""

    def __init__(self, folder: Path, cores: int = 2) -> None:
        reason = missing()
        assert not reason, reason
        self.folder = folder
        host = socket.gethostname().partition(".")[0]
        for name in ("state", "spool"):
            (folder / name).mkdir()
        conf = folder / "slurm.conf"
        controller = _free_port()
        daemon = _free_port()
        conf.write_text(
            CONF.format(host=host, folder=folder, cores=cores, controller=controller, daemon=daemon)
        )
        self.environment = {"SLURM_CONF": str(conf)}
        self._started: list[subprocess.Popen[bytes]] = []
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self._start(
            "munged", "--foreground", "--force", f"--key-file={key}",
            f"--socket={folder}/munge.socket", f"--pid-file={folder}/munge.pid",
            f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed",
        )  # fmt: skip
        self._until((folder / "munge.socket").exists)
        self._start("slurmctld", "-D", "-f", conf)
        self._start("slurmd", "-D", "-f", conf, "-N", host)
        self._until(lambda: self("sinfo", "-h", "-o", "%T") == "idle")

    def __call__(self, *command: str) -> str:
        """The output of one of Slurm's commands."""
        done = subprocess.run(
            command, env={**os.environ, **self.environment}, capture_output=True, text=True
        )
        return done.stdout.strip()

    def jobs(self) -> list[str]:
        """The numbers of the jobs that run."""
        return self("squeue", "-h", "-t", "RUNNING", "-o", "%i").split()

    def close(self) -> None:
        self("scancel", "--full", "--user", "root")
        self._until(lambda: not self("squeue", "-h", "-o", "%i"))
        for process in reversed(self._started):
            process.terminate()
            process.wait()

    def _start(self, program: str, *arguments: Any) -> None:
        path = _path(program)
        assert path is not None
        with (self.folder / f"{program}.out").open("wb") as log:
            self._started.append(
                subprocess.Popen(
                    [path, *map(str, arguments)],
                    env={**os.environ, **self.environment},
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def _until(self, condition: Any) -> None:
        def is_met() -> Any:
            for process in self._started:
                assert process.poll() is None, f"{process.args} has ended, see {self.folder}"
            return condition()

        until(is_met)


def _path(program: str) -> str | None:
    return shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/local/sbin")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
