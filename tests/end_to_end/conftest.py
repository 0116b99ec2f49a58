import shutil

import pytest
import support


@pytest.fixture(scope="session", autouse=True)
def _binary_exists():
    if not support.binary().exists():
        pytest.fail(f"{support.binary()} is not there: build the target workbench, or set WORKBENCH_BIN")


@pytest.fixture
def llama_copy(tmp_path):
    """A model directory of one's own, to break."""
    target = tmp_path / "model"
    shutil.copytree(support.model("llama"), target)
    return target


@pytest.fixture
def work(tmp_path):
    """An empty current directory, apart from the input."""
    directory = tmp_path / "work"
    directory.mkdir()
    return directory
