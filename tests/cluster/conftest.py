"""The race with which tests of clusters compare theirs."""

import pytest

from tests.cluster.test_dask import configured, raced


@pytest.fixture(scope="session")
def local_rounds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The rounds of a race on this machine."""
    folder = tmp_path_factory.mktemp("local")
    return raced(configured(folder, None, "descends", "slowly"), folder / "here")
