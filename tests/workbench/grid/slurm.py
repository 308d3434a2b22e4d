#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a grid on a Slurm cluster of two nodes, which it starts on this machine, and compares it with a local run.

Usage: slurm.py BUILD-FOLDER

The grid has 24 cells: one crashes, one hangs and one is preempted. The test is skipped without Slurm.
"""
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
NEEDS = ("slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "scancel")
SKIPPED = 77
SEEDS = 21
PATIENCE = 60  # seconds to wait for one condition

CONFIGURATION = """ClusterName=plait
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MaxArraySize=9
KillWait=5
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cores} State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs={cores} State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""

GRID = """[experiment]
name=tiny
[data]
generate=agreement
generate.train=48
generate.validation=4
generate.test=6
target=target
vocabulary_type=words
[source a]
encoder=transformer
layers=1
feed_forward=8
[source b]
encoder=transformer
layers=1
feed_forward=8
[decoder]
combiner=faulty
layers=1
width=8
heads=2
feed_forward=8
[train]
epochs=1
batch=12
warm_up=4
checkpoint_every=1
[decode]
beam=1
maximum_length=8
[evaluate]
resamples=5
[grid]
combiner.fault=none;crash;hang;wait
experiment.seed={seeds}
exclude=combiner.fault=crash|hang|wait & experiment.seed={others}
executor.time=9s
executor.threads=1
"""


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def await_that(what, condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what}: not within {PATIENCE} s")


def say(*words):
    """Returns the output of a Slurm command."""
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


class Cluster:
    """A Slurm cluster that ends with the block."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []

    def start(self, name, *words):
        with open(self.folder / f"{name}.out", "w", encoding="utf-8") as output:
            self.processes.append(subprocess.Popen(words, stdout=output, stderr=output))

    def __enter__(self):
        for name in ("state", "n1", "n2"):
            (self.folder / name).mkdir(parents=True)
        configuration = self.folder / "slurm.conf"
        configuration.write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], user=pwd.getpwuid(os.getuid()).pw_name, ports=free_ports(3),
            cores=os.cpu_count(), folder=self.folder), encoding="utf-8")
        os.environ["SLURM_CONF"] = str(configuration)
        self.start("slurmctld", "slurmctld", "-c", "-D")
        self.start("n1", "slurmd", "-N", "n1", "-D")
        self.start("n2", "slurmd", "-N", "n2", "-D")
        await_that("two nodes", lambda: say("sinfo", "-h", "-N", "-o", "%t").split() == ["idle", "idle"])
        return self

    def __exit__(self, *_):
        subprocess.run(["scancel", "--user", pwd.getpwuid(os.getuid()).pw_name], capture_output=True, check=False)
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def table(path):
    """Returns the rows of a table without columns of times."""
    rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
    kept = [i for i, title in enumerate(rows[0]) if "tokens/s" not in title and "second" not in title]
    return [[row[i] for i in kept] for row in rows]


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def run(build, folder):
    program, gate = str(build / "plait"), folder / "gate"
    plugins = folder / "plugins" / "combiner"
    plugins.mkdir(parents=True)
    shutil.copy(build / "tests/workbench/grid/faulty.so", plugins)
    shutil.copy(ROOT / "tests/workbench/grid/faulty/faulty.ini", plugins)
    os.environ.update(PLAIT_PLUGIN_PATH=f"{folder / 'plugins'}:{build / 'plugins'}", PLAIT_TEST_GATE=str(gate))
    seeds = [str(seed) for seed in range(1, SEEDS + 1)]
    (folder / "tiny.ini").write_text(GRID.format(seeds=";".join(seeds), others="|".join(seeds[1:])), encoding="utf-8")
    os.chdir(folder)

    began = time.monotonic()

    def tell(what):
        print(f"{time.monotonic() - began:5.1f} s  {what}", flush=True)

    with Cluster(folder / "slurm"):
        tell("two nodes are up")
        submitted = subprocess.run([program, "grid", "tiny.ini", "--output", "its cells", "--executor", "slurm"],
                                   capture_output=True, text=True, check=False)
        check(submitted.returncode == 0
              and "24 tasks are submitted to Slurm under job number 1, 2, 3" in submitted.stderr, submitted.stderr)
        tell("24 tasks are submitted")
        # Preempt the waiting cell after its first checkpoint.
        await_that("the cell that waits", lambda: next(iter(folder.glob("its cells/fault-wait*.training.h5")), None))
        running = say("squeue", "-h", "-r", "-t", "R", "-o", "%i").split()
        waiting = [job for job in running
                   if "fault=wait" in (folder / f"its cells/slurm/{job}.log").read_text(encoding="utf-8")]
        check(len(waiting) == 1, f"one of {running} waits")
        subprocess.run(["scontrol", "requeue", waiting[0]], check=True)
        await_that("the queue", lambda: "BeginTime" in say("squeue", "-h", "-r", "-o", "%i %r", "-j", waiting[0]))
        tell("one is preempted")
        gate.touch()
        subprocess.run(["scontrol", "update", f"JobId={waiting[0]}", "StartTime=now"], check=True)
        await_that("all jobs", lambda: not say("squeue", "-h", "-o", "%i").split())
        tell("all have ended")
        said = (folder / "its cells/slurm" / f"{waiting[0]}.log").read_text(encoding="utf-8")
        check("continues after update" in said, said)
        collected = next(folder.glob("its cells/slurm/collect_*.log")).read_text(encoding="utf-8")
        check("2 of 24 cells failed (combiner.fault=crash experiment.seed=1; combiner.fault=hang experiment.seed=1)"
              in collected, collected)
        check("crashed (signal 11" in collected and "it ran longer than --time allows" in collected, collected)

    local = subprocess.run([program, "grid", "tiny.ini", "--output", "local", "--jobs", "3", "--quiet"],
                           capture_output=True, text=True, check=False)
    tell("the local run has ended")
    check(local.returncode == 1 and "2 of 24 cells failed" in local.stderr, local.stderr)
    check(table(folder / "its cells/table.csv") == table(folder / "local/table.csv"), "the tables differ")


def main():
    missing = [name for name in NEEDS if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    if missing:
        print(f"skipped: there is no {', '.join(missing)}; install slurmctld, slurmd and slurm-client")
        return SKIPPED
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    with tempfile.TemporaryDirectory(prefix="plait-slurm-") as name:
        run(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
