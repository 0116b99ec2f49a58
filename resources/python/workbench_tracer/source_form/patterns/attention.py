"""attention has no source form: a transformers model already calls its attention through an interface that a runtime plugs into."""

from __future__ import annotations

from ..context import Context
from ..refusal import Refusal
from ..request import Site
from ..rewrite import Rewrite


def rewrite_attention(site: Site, context: Context) -> Rewrite:
    forward = context.forward(site.module, site)
    raise Refusal(f"attention needs no other source: {forward.name} ({forward.file.where(forward.node)}) calls it through "
                  "transformers' attention interface, where a runtime registers its own function")
