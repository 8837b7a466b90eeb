"""Moonshine reads "Ever tried, ever failed" aloud back as text: encoder and decoder with caches, word by word through npukit on
the CPU; the words are those onnxruntime gives with the same two files, and what is said in the recording."""
import os

import common
import numpy as np
import test_models

START, END, MOST = 1, 2, 40
SAID = "ever tried"  # the recording's first words


def pieces():
    """The words of the tokens: one length byte each (128 and more: two), then the text; U+2581 is a space."""
    with open(common.cached("models", "moonshine_tokenizer.bin"), "rb") as f:
        data, at, found = f.read(), 0, []
    while at < len(data):
        size = data[at]
        at += 1
        if size >= 128:
            size += 128 * data[at] - 128
            at += 1
        found.append(data[at:at + size])
        at += size
    return found


def transcribe(encode, decode, sound):
    mask = np.ones(sound.shape, np.int64)
    hidden = encode({"input_values": sound, "attention_mask": mask})[0]
    caches = {f"past_key_values.{i}.{part}.{kind}": np.zeros((1, test_models.HEADS, 0, test_models.WIDTH), np.float32)
              for i in range(test_models.LAYERS) for part in ("decoder", "encoder") for kind in ("key", "value")}
    tokens = [START]
    while tokens[-1] != END and len(tokens) < MOST:
        later = len(tokens) > 1
        outputs = decode({"input_ids": np.array([tokens[-1:]], np.int64), "encoder_hidden_states": hidden,
                          "encoder_attention_mask": mask, "use_cache_branch": np.array([later]), **caches})
        tokens.append(int(outputs[0][0, -1].argmax()))
        for (name, old), new in zip(caches.items(), outputs[1:]):
            caches[name] = old if later and ".encoder." in name else new
    return tokens


def through_npukit(args, file):
    count = 0

    def run(inputs):
        nonlocal count
        folder = os.path.join(args.work, "transcription", f"{os.path.basename(file)}_{count}")
        os.makedirs(folder, exist_ok=True)
        words = []
        for i, (name, value) in enumerate(inputs.items()):
            path = os.path.join(folder, f"in{i}.npy")
            np.save(path, value)
            words += ["--input", f"{name}={path}"]
        report = common.run_json([args.npukit, "run", file, "-d", "CPU", "--output-dir", os.path.join(folder, "out"), "--json", *words])
        count += 1
        return [np.load(o["file"]) for o in report["outputs"]]
    return run


def main():
    args = common.arguments(__doc__)
    checks, sound = common.Checks(), test_models.speech(4, 0)[None]
    files = [common.cached("models", f"moonshine_{part}.onnx") for part in ("encoder", "decoder")]
    options = common.onnxruntime.SessionOptions()
    options.log_severity_level = 3
    sessions = [common.onnxruntime.InferenceSession(f, options, providers=["CPUExecutionProvider"]) for f in files]
    expected = transcribe(*(lambda inputs, s=s: s.run(None, inputs) for s in sessions), sound)
    found = transcribe(*(through_npukit(args, f) for f in files), sound)
    table = pieces()
    text = b"".join(table[t] for t in found if t > END).decode().replace("\u2581", " ").strip()
    print(f"read: {text} ({len(found)} tokens)", flush=True)
    checks.check(found == expected, f"tokens {found}, onnxruntime gives {expected}")
    checks.check(text.lower().startswith(SAID), f"read {text!r}, said is {SAID!r}")
    checks.finish()


if __name__ == "__main__":
    main()
