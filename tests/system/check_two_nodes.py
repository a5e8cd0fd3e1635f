#!/usr/bin/env python3
"""scripts/two_nodes.sh and scripts/launch_mpi.sh with the real executable: on two nodes both modes train the model that one
process trains, bit-equal on all ranks, and send over the cable what the sums of gradients take and nothing more, of the
word embeddings the rows that a step uses; `check` says what each node lacks; a signal to launch_mpi.sh saves once, and
the job that goes on ends as if it had never stopped; a pulled cable is named.

    check_two_nodes.py BINARY nodes|signals|check|cable

Prints "SKIPPED: reason" where there is no mpirun or, for nodes, no namespaces. Needs the standard library only.
"""
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
JOB = ["--set", "train.epochs=1", "--set", "threads=1", "--set", "output.tensorboard=false"]
RANKS = 4


def require(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


class Job:
    """The job of configs/two_nodes.yaml with a small checkpoint, made bigger by `filler` words that no text has."""

    def __init__(self, binary, folder, filler):
        self.binary = binary
        self.folder = folder
        self.shared = folder / "shared"
        (self.shared / "data").mkdir(parents=True)
        for file in (REPOSITORY / "data/en").glob("*.tsv"):
            (self.shared / "data" / file.name).write_bytes(file.read_bytes())
        words = sorted(set(re.findall(r"[a-z0-9]+", (self.shared / "data/train.tsv").read_text(encoding="utf-8").lower())))
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        letters = [prefix + letter for prefix in ("", "##") for letter in "abcdefghijklmnopqrstuvwxyz"]
        words = [word for word in words if len(word) > 1]
        (folder / "vocab.txt").write_text("\n".join(special + letters + words + [f"filler{i}" for i in range(filler)]) + "\n", encoding="utf-8")
        self.run([binary, "init", "--family", "bert", "--size", "tiny", "--vocab", str(folder / "vocab.txt"),
                  "--output", str(self.shared / "checkpoint")], 0)

    def start(self, command):
        environment = {**os.environ, "BERTFT_NAS": str(self.shared), "BERTFT_NETWORK": "",
                       "OMPI_MCA_rmaps_base_oversubscribe": "1", "GOMP_SPINCOUNT": "1000"}
        return subprocess.Popen(command, cwd=self.folder, env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def run(self, command, code):
        return self.end(self.start(command), code)

    def end(self, process, code, said=""):
        said += process.communicate(timeout=100)[0]
        if "SKIPPED: " in said:
            print(said)
            sys.exit(0)
        require(process.returncode == code, f"exit code {process.returncode}, not {code}, of {process.args}\n{said}")
        return said

    def trace(self, name, ranks=1):
        files = [self.folder / (f"{name}.trace" if ranks == 1 else f"{name}.trace.{rank:04}") for rank in range(ranks)]
        return [[json.loads(line) for line in file.read_text().splitlines()] for file in files]

    def on_two_nodes(self, name, arguments, trains=True):
        """With a shared folder of its own, which then has the output, too."""
        shutil.copytree(self.shared, self.folder / name)
        trace = ["--trace", str(self.folder / f"{name}.trace")] if trains else []
        return self.start([str(REPOSITORY / "scripts/two_nodes.sh"), "--shared", str(self.folder / name),
                           "--program", self.binary, *trace, *JOB, *arguments])

    def launched(self, ranks, name, arguments):
        config = str(REPOSITORY / "configs/two_nodes.yaml")
        return [str(REPOSITORY / "scripts/launch_mpi.sh"), "-np", str(ranks), self.binary, "--config", config,
                "--trace", str(self.folder / f"{name}.trace"), "--set", f"output.dir={self.folder / name}", *JOB,
                "--set", "output.log_every=1", *arguments]


def header_of(model):
    with open(model, "rb") as file:
        return json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))


def gradient_bytes(model, bytes_of_matrix):
    """Of all weights of a model that is as one message; vectors are always fp32."""
    total = 0
    for name, tensor in header_of(model).items():
        if name != "__metadata__":
            begin, end = tensor["data_offsets"]
            total += (end - begin) // 4 * (4 if len(tensor["shape"]) == 1 else bytes_of_matrix)
    return total


def used_words(job, line):
    """How many rows of the word table the texts of a step use, as the tokenizer cuts them: words of the vocabulary,
    single letters, [UNK] for everything else; [CLS] and [SEP] are in all texts."""
    texts = (job.shared / "data/train.tsv").read_text(encoding="utf-8").lower().splitlines()[1:]
    words = {"[CLS]", "[SEP]"}
    for row in line["rows"]:
        for token in re.findall(r"[a-z0-9]+|[^\sa-z0-9]", texts[row].split("\t")[1]):
            words.add(token if len(token) > 1 or token.isalpha() else "[UNK]")
    return len(words)


def sparse_gradient_bytes(job, model, bytes_of_matrix, single):
    """A step's mean when of the word table only the used rows are sent."""
    table = header_of(model)["bert.embeddings.word_embeddings.weight"]["shape"]
    rows = sum(used_words(job, line) for line in single) / len(single)
    return gradient_bytes(model, bytes_of_matrix) - (table[0] - rows) * table[1] * bytes_of_matrix


def check_ranks_agree(name, traces, single):
    for rank, trace in enumerate(traces):
        require(len(trace) == len(single), f"{name}: rank {rank} has {len(trace)} steps in its trace, not {len(single)}")
        for line, first, alone in zip(trace, traces[0], single):
            for key in ("step", "loss", "grad_norm", "parameter_hash"):
                require(line[key] == first[key], f"{name}: step {alone['step']}: {key} of rank {rank} is not that of rank 0")
    for index, alone in enumerate(single):
        rows = sorted(row for trace in traces for row in trace[index]["rows"])
        require(rows == sorted(alone["rows"]), f"{name}: step {alone['step']} has other rows than one process has")


def check_run(job, name, said, single, loss_tolerance, bytes_a_step):
    require("4 ranks on 2 nodes" in said, f"{name}: the job did not see two nodes\n{said}")
    require((job.folder / name / "run/results.json").exists(), f"{name}: the shared folder has no results")
    traces = job.trace(name, RANKS)
    check_ranks_agree(name, traces, single)
    worst = max(abs(line["loss"] - alone["loss"]) for line, alone in zip(traces[0], single))
    require(worst <= loss_tolerance, f"{name}: a loss differs by {worst} from that of one process")
    cable = re.search(r"steps: (\d+) and (\d+) bytes a step", said)
    require(cable, f"{name}: nothing was said about the cable\n{said}")
    for node, sent in zip("ab", map(int, cable.groups())):
        require(abs(sent - bytes_a_step) <= 0.05 * bytes_a_step,
                f"{name}: node-{node} sent {sent} bytes a step, not {bytes_a_step} within 5 %")
    print(f"{name}: {len(single)} steps, losses within {worst:.1e} of one process, "
          f"{cable[1]} and {cable[2]} bytes a step and node for {bytes_a_step}")
    return [line["parameter_hash"] for line in traces[0]]


def check_two_nodes(job):
    # Two jobs at once: neither may see the other's nodes.
    flat = job.on_two_nodes("horovod", ["--comm", "horovod"])
    fp32 = job.on_two_nodes("aiacc_fp32", ["--comm", "aiacc", "--set", "comm.wire=fp32"])
    said = {"horovod": job.end(flat, 0), "aiacc_fp32": job.end(fp32, 0)}
    dense = job.on_two_nodes("mixed_dense", ["--comm", "aiacc", "--set", "comm.sparse_embeddings=false"])
    mixed = job.on_two_nodes("aiacc_mixed", ["--comm", "aiacc"])
    said |= {"mixed_dense": job.end(dense, 0), "aiacc_mixed": job.end(mixed, 0)}
    job.run([job.binary, "--config", str(REPOSITORY / "configs/two_nodes.yaml"), "--set", f"output.dir={job.folder / 'one'}",
             "--trace", str(job.folder / "single.trace"), *JOB], 0)
    single = job.trace("single")[0]
    require(len(single) == 20, f"one process makes {len(single)} steps")
    # Over N = 2 nodes: 2 S (N - 1) / N = S a node when each node sums first. Flat, each of 4 ranks sends a quarter to
    # each of 2 remote ranks, twice: S a rank.
    model = job.folder / "one/best/model.safetensors"
    size = gradient_bytes(model, 4)
    exact = check_run(job, "aiacc_fp32", said["aiacc_fp32"], single, 1e-4, sparse_gradient_bytes(job, model, 4, single))
    horovod = check_run(job, "horovod", said["horovod"], single, 1e-4, 2 * size)
    dense = check_run(job, "mixed_dense", said["mixed_dense"], single, 1e-3, gradient_bytes(model, 2))
    mixed = check_run(job, "aiacc_mixed", said["aiacc_mixed"], single, 1e-3, sparse_gradient_bytes(job, model, 2, single))
    require(exact == horovod, "both modes at fp32 wire, with and without sparse embedding rows, give the same bits")
    require(exact not in (dense, mixed), "wire mixed rounds, so its bits are others")


def wait_for(process, text):
    said = ""
    for line in process.stdout:
        said += line
        if line.startswith(text):
            return said
    sys.exit(f"FAILED: the job never said '{text}'\n{said}")


# Long enough that a signal comes before the end, however late it is on a busy machine.
LONG = ["--set", "train.epochs=8", "--set", "eval.every=1000", "--set", "output.checkpoint_every=1000"]


def check_signals(job, ranks, stops):
    whole, stopped = f"whole_{ranks}", f"stopped_{ranks}"
    never_stopped = job.start(job.launched(ranks, whole, LONG))
    for index, number in enumerate(stops):
        process = job.start(job.launched(ranks, stopped, [*LONG, "--resume"] if index else LONG))
        said = wait_for(process, "step ")
        process.send_signal(number)
        said = job.end(process, 7, said)
        saves = said.count("training state after step")
        require(saves == 1, f"{ranks} ranks: the state was saved {saves} times\n{said}")
    job.run(job.launched(ranks, stopped, [*LONG, "--resume"]), 0)
    job.end(never_stopped, 0)
    require(job.trace(stopped, ranks) == job.trace(whole, ranks), f"{ranks} ranks: a job that was stopped has another trace")
    for file in ("best/model.safetensors", "last/model.safetensors", "predictions/test.tsv"):
        require((job.folder / stopped / file).read_bytes() == (job.folder / whole / file).read_bytes(),
                f"{ranks} ranks: {file} of a job that was stopped is another")
    print(f"launch_mpi.sh, {ranks} ranks: {' and '.join(number.name for number in stops)} saved once, exit code 7; "
          "the job goes on to the same bits")


def check_of_nodes(job):
    said = job.end(job.on_two_nodes("good", ["--command", "check"], trains=False), 0)
    for text in ("node-a: ranks 0-1\n", "node-b: ranks 2-3\n", "eth0 10.77.0.1", "eth0 10.77.0.2", "no faults found"):
        require(text in said, f"check of two nodes does not say '{text}'\n{said}")
    hide_data = 'mount -t tmpfs tmpfs "$BERTFT_NAS/data"'
    said = job.end(job.on_two_nodes("lacking", ["--command", "check", "--in-b", hide_data], trains=False), 3)
    for text in ("rank 2 (node-b), rank 3 (node-b): ", "data/train.tsv is not there (tmpfs)", "faults found"):
        require(text in said, f"check with a file missing on node-b does not say '{text}'\n{said}")
    print("check: two nodes with their ranks and interfaces; a file that node-b lacks is told with its ranks")


def check_pulled_cable(job):
    """The ranks say why before mpirun, which notices later, can end them; mpirun is not waited for for ever."""
    process = job.on_two_nodes("cut", ["--set", "train.epochs=1000", "--set", "output.log_every=1"])
    said = wait_for(process, "step 4/")
    node_b = re.search(r"node-b \(process (\d+)", said)[1]
    cut = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    subprocess.run(["nsenter", "--net", "--target", node_b, "ip", "link", "set", "eth0", "down"], check=True)
    said += process.communicate(timeout=200)[0]
    require(process.returncode == 4, f"exit code {process.returncode} of a job whose cable was pulled\n{said}")
    require("ORTE has lost communication" not in said, f"mpirun noticed before the ranks\n{said}")
    after = []
    for rank, peer in enumerate(["node-b", "node-b", "node-a", "node-a"]):
        last = (job.folder / f"cut/run/logs/rank_{rank:04}.log").read_text(encoding="utf-8").splitlines()[-1]
        require(re.search(rf" E rank \d \({peer}\) does not answer any more", last),
                f"the log of rank {rank} does not end with a rank of {peer} that does not answer: {last}\n{said}")
        after.append((datetime.datetime.fromisoformat(last.split(" ")[0]) - cut).total_seconds())
    print(f"pulled cable: each of {RANKS} logs ends with a rank that does not answer, after {max(after):.1f} s at the latest")


def main():
    if shutil.which("mpirun") is None:
        print("SKIPPED: no mpirun (scripts/setup.sh installs it)")
        return
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bertft_two_nodes_") as folder:
        os.environ["TMPDIR"] = folder
        binary = str(pathlib.Path(sys.argv[1]).resolve())
        if sys.argv[2] == "signals":
            job = Job(binary, pathlib.Path(folder), 0)
            check_signals(job, 1, [signal.SIGTERM])
            check_signals(job, 2, [signal.SIGTERM, signal.SIGINT])
            check_signals(job, 4, [signal.SIGTERM])
        else:
            job = Job(binary, pathlib.Path(folder), 20000)  # gradients of 12 MB: they outweigh all else on the cable
            {"cable": check_pulled_cable, "check": check_of_nodes, "nodes": check_two_nodes}[sys.argv[2]](job)
    print(f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
