"""Prints sampler_cases.json: what transformers' logits processors make of made-up logits.

    python tests/runtime/engine/make_sampler_cases.py > tests/runtime/engine/sampler_cases.json

The processors and their order are those of transformers' GenerationMixin._get_logits_processor. Presence and frequency penalties, which
transformers lacks, follow the formula of OpenAI's API reference: mu[j] - c[j] * alpha_frequency - float(c[j] > 0) * alpha_presence.
"""

import itertools
import json

import torch
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

VOCABULARY = 40
DEFAULTS = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0,
            "frequency_penalty": 0.0}


def short(number):
    return float(f"{float(number):.7g}")


def penalties(text, params):
    counts = torch.bincount(torch.tensor(text, dtype=torch.long), minlength=VOCABULARY).float()
    return counts * params["frequency_penalty"] + (counts > 0).float() * params["presence_penalty"]


def processed(logits, prompt, text, params):
    scores = logits[None]
    if params["repetition_penalty"] != 1:
        scores = RepetitionPenaltyLogitsProcessor(params["repetition_penalty"])(torch.tensor([prompt + text]), scores)
    scores = scores - penalties(text, params)
    warpers = LogitsProcessorList()
    if params["temperature"] != 1:
        warpers.append(TemperatureLogitsWarper(params["temperature"]))
    if params["top_k"]:
        warpers.append(TopKLogitsWarper(params["top_k"]))
    if params["top_p"] < 1:
        warpers.append(TopPLogitsWarper(params["top_p"]))
    if params["min_p"]:
        warpers.append(MinPLogitsWarper(params["min_p"]))
    return warpers(torch.tensor([prompt + text]), scores)[0]


def case(logits, prompt, text, **params):
    params = DEFAULTS | params
    scores = processed(logits, prompt, text, params)
    probabilities = scores.double().softmax(-1)
    kept = {str(token): short(probabilities[token]) for token in range(VOCABULARY) if probabilities[token] > 0}
    top = logits.double().log_softmax(-1).topk(5)
    return {"logits": [round(float(x), 3) for x in logits], "prompt": prompt, "text": text, "params": params, "kept": kept,
            "greedy": int(scores.argmax()), "top_logprobs": [[int(t), short(p)] for t, p in zip(top.indices, top.values)]}


def main():
    torch.manual_seed(0)
    made = []
    grid = itertools.product((0.3, 1.0, 1.7), (0, 1, 7), (1.0, 0.9, 0.5), (0.0, 0.1))
    for temperature, top_k, top_p, min_p in grid:
        logits = (torch.randn(VOCABULARY) * 2).round(decimals=3)
        made.append(case(logits, [1, 2], [3], temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p))
    for repetition, presence, frequency in itertools.product((1.0, 1.3, 0.8), (0.0, 0.7, -0.4), (0.0, 0.5)):
        logits = (torch.randn(VOCABULARY) * 2).round(decimals=3)
        made.append(case(logits, [1, 2, 2, 9], [5, 5, 5, 30, 2, 17], repetition_penalty=repetition, presence_penalty=presence,
                         frequency_penalty=frequency))
        made.append(case(logits, [], [0, 0, 39], temperature=0.7, top_k=12, top_p=0.8, min_p=0.02, repetition_penalty=repetition,
                         presence_penalty=presence, frequency_penalty=frequency))
    # Equals at the border of top-k: all of them stay.
    made.append(case(torch.tensor([2.0, 1.0, 1.0, 1.0] + [0.0] * 36), [], [], top_k=2))
    print("[\n" + ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in made) + "\n]")


main()
