import pytest
import support


@pytest.fixture(scope="session", autouse=True)
def _binary_exists():
    if not support.binary().exists():
        pytest.fail(f"{support.binary()} is not there: build the target workbench, or set WORKBENCH_BIN")
