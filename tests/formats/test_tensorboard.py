"""Event files, written by tensorboardX and by hand."""

import struct
from pathlib import Path

import numpy as np
import pytest

import polarbear as pb
from polarbear.errors import ImportFailedError
from polarbear.formats.tensorboard import TensorBoard

pytestmark = pytest.mark.peer


def curve(folder: Path, values: list[float], tag: str = "loss", other: bool = False) -> Path:
    import tensorboardX

    with tensorboardX.SummaryWriter(str(folder)) as writer:
        for step, value in enumerate(values):
            writer.add_scalar(tag, value, 10 * step, walltime=1000.0 + 2 * step)
            writer.add_histogram("weights", np.arange(4.0), step)
            if other:
                writer.add_scalar("accuracy", 1 - value, 10 * step, walltime=999.0)
    (path,) = folder.glob("*tfevents*")
    return path


def test_curves_of_every_run_become_trajectories(tmp_path: Path):
    curve(tmp_path / "logs" / "adam" / "cifar" / "0", [0.5, 0.25, 0.375])
    curve(tmp_path / "logs" / "adam" / "cifar" / "1", [0.5])
    curve(tmp_path / "logs" / "sgd" / "cifar" / "0", [1.0, 0.125])
    store = pb.import_data(tmp_path / "logs", tmp_path / "s", "tensorboard")
    assert store.axis == "steps"
    points = store.trajectories().drop("run_status").sort("algorithm", "instance", "t")
    assert points.rows() == [
        ("adam", "cifar#1", 0, 0.5),
        ("adam", "cifar#1", 10, 0.25),
        ("adam", "cifar#1", 20, 0.25),  # the end
        ("adam", "cifar#2", 0, 0.5),
        ("sgd", "cifar#1", 0, 1.0),
        ("sgd", "cifar#1", 10, 0.125),
    ]
    assert store.runs()["reached"].to_list() == [20, 0, 10]


def test_a_writer_that_is_created_with_the_first_value_does_not_lose_the_first_epoch(tmp_path):
    curve(tmp_path / "adam", [0.5, 0.25, 0.375])  # the file begins with the first value
    (run,) = TensorBoard(tag="loss", by="seconds", trajectory="last").read(tmp_path).outcomes
    assert (run.times.tolist(), run.values.tolist()) == ([2, 4, 6], [0.5, 0.25, 0.375])


def test_one_of_several_scalars_has_to_be_chosen_and_the_others_are_named(tmp_path: Path):
    curve(tmp_path / "adam", [0.5, 0.25], other=True)
    with pytest.raises(ImportFailedError, match="the scalars accuracy, loss: choose one"):
        TensorBoard().read(tmp_path)
    with pytest.raises(ImportFailedError, match="the scalars accuracy, loss: choose one"):
        TensorBoard(tag="los").read(tmp_path)
    (run,) = TensorBoard(tag="loss", by="seconds").read(tmp_path).outcomes
    assert run.times.tolist() == [1, 3]  # from the first record of the run
    assert (run.task.algorithm.name, run.task.instance.id) == ("adam", f"{tmp_path.name}#1")
    curve(tmp_path / "sgd", [0.5], tag="other")
    imported = TensorBoard(tag="accuracy", maximise=True).read(tmp_path)
    (rejection,) = imported.rejected
    assert (rejection.reason, rejection.first) == ("the run has no scalar 'accuracy'", "sgd")
    assert imported.outcomes[0].values.tolist() == [-0.5, -0.75]
    assert "2 scalars ignored: loss, other" in imported.notes


def test_scalars_that_were_logged_as_tensors_are_read(tmp_path: Path):
    """As TensorFlow 2 and PyTorch's new style write them: a TensorProto of one float."""
    from tensorboardX.proto import event_pb2 as proto

    event = proto.Event(wall_time=5.0, step=3)
    for tag, content in (("loss", struct.pack("<f", 0.75)), ("image", struct.pack("<2f", 0.75, 1))):
        value = event.summary.value.add(tag=tag)
        value.tensor.dtype = 1
        value.tensor.tensor_content = content
    data = event.SerializeToString()
    record = struct.pack("<Q", len(data)) + b"\0" * 4 + data + b"\0" * 4
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "events.out.tfevents.1").write_bytes(record)
    (run,) = TensorBoard().read(tmp_path).outcomes
    assert (run.times.tolist(), run.values.tolist()) == ([3], [0.75])


def test_a_file_that_was_cut_keeps_its_complete_records(tmp_path: Path):
    path = curve(tmp_path / "adam", [0.5, 0.25, 0.125])
    complete = path.read_bytes()
    path.write_bytes(complete[:-1])
    (run,) = TensorBoard(tag="loss").read(tmp_path).outcomes
    assert run.values.tolist() == [0.5, 0.25, 0.125]  # only the last histogram is incomplete
    for cut in range(61, len(complete) - 1, 37):
        path.write_bytes(complete[:cut])
        try:
            reasons = [
                rejection.reason for rejection in TensorBoard(tag="loss").read(tmp_path).rejected
            ]
        except ImportFailedError as error:  # nothing before the first value
            reasons = str(error).splitlines()
        assert len(reasons) == 1
