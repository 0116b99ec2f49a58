"""moe and moe-router have no source form: a transformers model already calls its experts through an interface that a runtime plugs into."""

from __future__ import annotations

from ..context import Context
from ..refusal import Refusal
from ..request import Site
from ..rewrite import Rewrite


def rewrite_moe(site: Site, context: Context) -> Rewrite:
    forward = context.forward(site.module, site)
    raise Refusal(f"moe needs no other source: {forward.name} ({forward.file.where(forward.node)}) runs through transformers' experts interface, "
                  "where a runtime registers its own function")


def rewrite_moe_router(site: Site, context: Context) -> Rewrite:
    forward = context.forward(site.module, site)
    raise Refusal(f"moe-router has no source form: {forward.name} ({forward.file.where(forward.node)}) also returns the logits, and what is called "
                  "between them and the weights differs from model to model")
