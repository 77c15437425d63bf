"""Images, sounds, documents, code: made from what is given, loaded only when asked."""

from __future__ import annotations

import base64
import io
import pickle
import wave
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from reasonact.types import Audio, Code, File, Image, Reasoning, Type, encode_file_to_dict, encode_image

PNG = b"\x89PNG\r\n\x1a\n and more"


def test_a_path_is_never_read_by_making_an_image(tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    file.write_bytes(PNG)
    for make in (Image, lambda text: Image(url=text), lambda text: Image.model_validate({"url": text}), encode_image):
        with pytest.raises(ValueError, match="from_path"):
            make(str(file))
    assert Image.from_path(file).url == "data:image/png;base64," + base64.b64encode(PNG).decode()


def test_a_url_is_fetched_only_when_asked(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/a.png").respond_with_data(PNG, content_type="image/png; charset=x")
    url = httpserver.url_for("/a.png")
    assert url == Image(url).url
    assert [] == httpserver.log
    data = "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert data == Image.from_url(url).url == Image(url, download=True).url


def test_what_cannot_be_fetched_says_so(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/gone").respond_with_data("no", status=404)
    with pytest.raises(ConnectionError, match="404"):
        Image.from_url(httpserver.url_for("/gone"))
    with pytest.raises(ConnectionError, match="could not be fetched"):
        Audio.from_url("http://127.0.0.1:1/a.wav", timeout=2)
    for url in ("ftp://x/y", "/etc/passwd", "file:///etc/passwd"):
        with pytest.raises(ValueError, match="only http and https"):
            Image.from_url(url)


def test_a_sound_is_fetched_with_its_format(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/a").respond_with_data(b"hi", content_type="audio/mpeg")
    httpserver.expect_request("/b").respond_with_data(b"hi", content_type="text/html")
    assert Audio(data="aGk=", audio_format="mp3") == Audio.from_url(httpserver.url_for("/a"))
    with pytest.raises(ValueError, match="no sound of a known kind"):
        Audio.from_url(httpserver.url_for("/b"))


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
        (b"BM", "image/bmp"),
        (b"II*\0", "image/tiff"),
    ],
)
def test_bytes_tell_what_picture_they_are(start: bytes, kind: str) -> None:
    assert Image(start).url.startswith(f"data:{kind};base64,")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Image(b"text"),
        lambda: Image("data:image/png;base64,@@@"),
        lambda: Image("data:image/png;base64,aGk"),
        lambda: Image(["http://x"]),
        lambda: Image("http://x", url="http://y"),
        lambda: Image("http://[x"),
        lambda: Audio("data:audio/wav;base64,@@"),
        lambda: Audio(data="@@", audio_format="wav"),
        lambda: Audio(data="aGk="),
        lambda: Audio("data:text/plain;base64,aGk="),
        lambda: File("data:text/plain;base64,@@"),
        lambda: File(file_data="data:text/plain;base64,@@"),
        lambda: File(),
        lambda: File(3),
        lambda: encode_file_to_dict({"other": 1}),
        lambda: Image.from_path("/nowhere.png"),
        lambda: File.from_path("/nowhere"),
        lambda: Audio.from_path(__file__),
    ],
)
def test_wrong_data_is_a_value_error(make: Any) -> None:
    with pytest.raises(ValueError):
        make()


def test_white_space_in_base64_is_taken_out() -> None:
    assert "data:image/png;base64,aGk=" == Image("data:image/png;base64,aG\n k=").url


def test_a_long_picture_is_short_in_print() -> None:
    picture = Image("data:image/png;base64," + "A" * 4000)
    assert "Image(url=data:image/png;base64,<IMAGE_BASE_64_ENCODED(4000)>)" == repr(picture) == str(picture)
    assert "Audio(data=<AUDIO_BASE_64_ENCODED(4)>, audio_format='wav')" == str(Audio(b"hi"))
    assert "File(file_data=<DATA_URI(application/octet-stream, 4 chars)>)" == str(File(b"hi"))


@pytest.mark.parametrize("samples", [[0.0, 0.5, -1.0, 2.0], [0, 100, -32768], [[0.0, 0.1], [0.2, 0.3]], []])
def test_samples_become_a_wav(samples: list[Any]) -> None:
    sound = Audio.from_array(samples, 8000)
    with wave.open(io.BytesIO(base64.b64decode(sound.data))) as file:
        assert ("wav", 8000, len(samples)) == (sound.audio_format, file.getframerate(), file.getnframes())
        assert (len(samples[0]) if samples and isinstance(samples[0], list) else 1) == file.getnchannels()


def test_samples_of_numpy_become_a_wav() -> None:
    numpy = pytest.importorskip("numpy")
    assert Audio.from_array([0.0, 0.5], 8000) == Audio.from_array(numpy.array([0.0, 0.5]), 8000)
    assert Audio.from_array([1, 2], 8000) == Audio.from_array(numpy.array([1, 2], dtype="int16"), 8000)


def test_samples_that_are_none_are_refused() -> None:
    for samples in (["x"], [40_000], [None]):
        with pytest.raises(ValueError, match="samples must be numbers"):
            Audio.from_array(samples, 8000)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "soundfile", None)
    with pytest.raises(ImportError, match="pip install soundfile"):
        Audio.from_array([0.0], 8000, format="flac")


def test_code_keeps_the_indentation_of_its_first_line() -> None:
    assert "  x = 1\n  y = 2" == Code.model_validate("```python\n  x = 1\n  y = 2\n```").code


def test_code_has_one_class_for_each_language() -> None:
    assert Code["c++"] is Code["c++"] is Code.for_language("c++")
    assert issubclass(Code["c++"], Code)
    assert "```c++" in Code["c++"].description()
    code = Code["c++"](code="int x;")
    assert code == pickle.loads(pickle.dumps(code))
    assert Code["java"] is type(Code["java"].model_validate(Code(code="x")))
    with pytest.raises(TypeError, match="name of a language"):
        Code[3]


def test_media_are_pickled_and_hashed() -> None:
    for value in (Image("http://x/y"), Audio(b"hi"), File(b"hi")):
        assert value == pickle.loads(pickle.dumps(value))
        assert hash(value) == hash(pickle.loads(pickle.dumps(value)))


def test_a_type_that_does_not_say_how_it_is_shown_fails_when_shown() -> None:
    class Silent(Type):
        """No format."""

    with pytest.raises(NotImplementedError, match="Silent must override format"):
        Silent().format()


def test_types_are_found_once_each_in_an_annotation() -> None:
    found = Type.extract_custom_type_from_annotation(dict[str, list[Image | None]] | Image | Audio | int)
    assert [Image, Audio] == found
    assert [] == Image.extract_custom_type_from_annotation(Audio)


def test_reasoning_formats_sorts_and_hashes_as_its_text() -> None:
    thought = Reasoning(content="b")
    assert "    b" == f"{thought:>5}"
    assert {"b"} == {thought, "b"}
    assert [Reasoning(content="a"), "b"] == sorted([thought, "a"])
    assert thought in [thought]
    assert Reasoning(content="b") in Reasoning(content="abc")
    assert 3 not in thought
    assert "xb" == "x" + thought
    with pytest.raises(TypeError):
        _ = thought < 3
    assert thought == Reasoning.model_validate(thought) == pickle.loads(pickle.dumps(thought))


def test_the_hooks_of_a_type_do_nothing_by_themselves() -> None:
    signature = object()
    options = {"temperature": 0}
    assert signature is Image.adapt_to_native_lm_feature(signature, "picture", None, options)  # type: ignore[arg-type]
    assert {"temperature": 0} == options
    assert (None, None, False, "") == (
        Image.parse_lm_response("x"),
        Image.parse_stream_chunk("x"),
        Image.is_streamable(),
        Image.description(),
    )
