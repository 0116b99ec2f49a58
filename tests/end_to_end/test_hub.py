"""org/name[@revision]: from the local Hugging Face cache, and through huggingface_hub from a server on this machine."""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import support
from support import BAD_INPUT, DONE, workbench

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_a_token_for_this_test"


def _make_cache(home, files_of, refs=("main",)):
    repo = home / "hub" / "models--org--tiny"
    snapshot = repo / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (repo / "refs").mkdir()
    for ref in refs:
        (repo / "refs" / ref).write_text(COMMIT)
    for file in files_of.iterdir():
        (snapshot / file.name).symlink_to(file)


def _sites(run):
    return len(json.loads(run.out)["sites"])


@pytest.mark.parametrize("name", ["org/tiny", "org/tiny@main", "org/tiny@v1", f"org/tiny@{COMMIT}"])
def test_found_in_the_local_cache(name, tmp_path):
    _make_cache(tmp_path / "home", support.model("llama"), refs=("main", "v1"))
    env = support.environment(HF_HOME=str(tmp_path / "home"))
    assert _sites(workbench("inspect", name, "--json", env=env).expect(DONE)) > 0


def test_a_revision_that_is_not_there_is_named(tmp_path):
    _make_cache(tmp_path / "home", support.model("llama"))
    env = support.environment(HF_HOME=str(tmp_path / "home"))
    workbench("inspect", "org/tiny@v9", env=env).expect_error(BAD_INPUT, "org/tiny", "v9")


class _Hub(BaseHTTPRequestHandler):
    """The few requests that huggingface_hub makes to download a repository."""

    folder = None
    seen: list[tuple[str, str | None]] = []

    def _answer(self, body: bytes, **headers: str) -> None:
        self.send_response(200)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers.get("Authorization")))
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.send_error(401)
        elif self.path.startswith("/api/models/org/tiny/tree/"):
            entries = [
                {"type": "file", "path": file.name, "size": file.stat().st_size, "oid": hashlib.sha1(file.read_bytes()).hexdigest()}
                for file in self.folder.iterdir()
            ]
            self._answer(json.dumps(entries).encode(), Content_Type="application/json")
        elif self.path.startswith("/api/models/org/tiny"):
            siblings = [{"rfilename": file.name} for file in self.folder.iterdir()]
            info = {"_id": "1", "id": "org/tiny", "sha": COMMIT, "private": True, "siblings": siblings, "tags": [], "downloads": 0, "likes": 0}
            self._answer(json.dumps(info).encode(), Content_Type="application/json")
        elif self.path.startswith("/org/tiny/resolve/"):
            file = self.folder / self.path.split("?")[0].rsplit("/", 1)[1]
            if not file.exists():
                self.send_error(404)
                return
            body = file.read_bytes()
            self._answer(body, ETag=f'"{hashlib.sha1(body).hexdigest()}"', X_Repo_Commit=COMMIT, Content_Type="application/octet-stream")
        else:
            self.send_error(404)

    do_HEAD = do_GET

    def log_message(self, *arguments) -> None:
        pass


@pytest.fixture
def hub():
    _Hub.folder = support.model("llama")
    _Hub.seen = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


def test_downloaded_with_endpoint_and_token(tmp_path, hub):
    env = support.environment(HF_HOME=str(tmp_path / "home"), HF_HUB_OFFLINE=None, HF_ENDPOINT=hub, HF_TOKEN=TOKEN)
    assert _sites(workbench("inspect", "org/tiny", "--json", env=env).expect(DONE)) > 0
    about_the_model = [token for path, token in _Hub.seen if "org/tiny" in path]
    assert about_the_model and all(token == f"Bearer {TOKEN}" for token in about_the_model)
    offline = support.environment(HF_HOME=str(tmp_path / "home"))
    assert _sites(workbench("inspect", "org/tiny", "--json", env=offline).expect(DONE)) > 0


def test_weights_are_downloaded_once_they_are_needed(tmp_path, hub):
    _Hub.seen.clear()
    env = support.environment(HF_HOME=str(tmp_path / "home"), HF_HUB_OFFLINE=None, HF_ENDPOINT=hub, HF_TOKEN=TOKEN)
    assert _sites(workbench("inspect", "org/tiny", "--json", env=env).expect(DONE)) > 0
    assert not any("resolve" in path and path.endswith(".safetensors") for path, _ in _Hub.seen)
    report = workbench("verify", "org/tiny", "--apply-all", "--json", env=env).expect(DONE).json()
    assert report["proof"] == "weights" and report["passed"]
    offline = support.environment(HF_HOME=str(tmp_path / "home"))
    assert workbench("verify", "org/tiny", "--apply-all", "--json", env=offline).expect(DONE).json()["proof"] == "weights"


def test_weights_that_cannot_be_fetched_are_told(tmp_path):
    """The proof is one of random weights then, which a green check must not hide."""
    home = tmp_path / "home"
    config = tmp_path / "config"
    config.mkdir()
    (config / "config.json").write_bytes((support.model("llama") / "config.json").read_bytes())
    _make_cache(home, config)
    for env in ({"HF_HUB_OFFLINE": None, "HF_ENDPOINT": "http://127.0.0.1:9"}, {}):
        run = workbench("verify", "org/tiny", "--apply-all", "--json", env=support.environment(HF_HOME=str(home), **env)).expect(DONE)
        assert run.json()["proof"] == "random-weights"
        assert "org/tiny has no whole safetensors weights" in run.err


def test_a_wrong_token_is_one_sentence_without_the_token(tmp_path, hub):
    env = support.environment(HF_HOME=str(tmp_path / "home"), HF_HUB_OFFLINE=None, HF_ENDPOINT=hub, HF_TOKEN="hf_wrong_secret")
    run = workbench("inspect", "org/tiny", env=env)
    run.expect_error(BAD_INPUT, "org/tiny")
    assert "hf_wrong_secret" not in run.out + run.err


def test_a_server_that_does_not_answer_is_one_sentence(tmp_path):
    env = support.environment(HF_HOME=str(tmp_path / "home"), HF_HUB_OFFLINE=None, HF_ENDPOINT="http://127.0.0.1:9")
    workbench("inspect", "org/tiny", env=env).expect_error(BAD_INPUT, "org/tiny")
