"""What tests of clusters compare with."""

import pytest

from tests.cluster.test_dask import configured, raced


@pytest.fixture(scope="session")
def here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The rounds of a race on this machine."""
    folder = tmp_path_factory.mktemp("local")
    return raced(configured(folder, None, "descends", "slowly"), folder / "here")
