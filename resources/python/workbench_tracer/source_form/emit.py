"""From sites to files: one source and one diff for each rewritten class, and index.json."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from .context import Context
from .forward import Forward
from .patterns import PATTERNS
from .refusal import Refusal
from .render import Rendered, render
from .request import Request, Site
from .rewrite import Merge, Rewrite
from .source_file import overlap

SCHEMA = 1
INDEX = "index.json"


@dataclass
class Variant:
    """One text of a forward and the instances that it is for."""

    forward: Forward
    rewrites: list[Rewrite]
    instances: list[str] = field(default_factory=list)

    @property
    def patterns(self) -> list[str]:
        return list(dict.fromkeys(rewrite.pattern for rewrite in self.rewrites))

    @property
    def merges(self) -> list[Merge]:
        return [merge for rewrite in self.rewrites for merge in rewrite.merges]


@dataclass
class Plan:
    """What will be written: the variants, the rewrite of each site that has one, and the reason of each that has none."""

    variants: list[Variant]
    rewrites: dict[str, Rewrite]
    reasons: dict[str, str]


def plan_sources(request: Request, model: torch.nn.Module) -> Plan:
    """Decides every site without writing anything. Of two that want the same lines, the first of the request has them."""
    context = Context(model, request.sources, request.dtype)
    reasons = {site.id: f"no source form is known for the pattern {site.pattern}" for site in request.sites
               if site.pattern not in PATTERNS}
    rewrites: dict[str, Rewrite] = {}
    by_instance: dict[str, list[Rewrite]] = {}
    for site in request.sites:
        if site.pattern not in PATTERNS:
            continue
        try:
            rewrite = _fitting(PATTERNS[site.pattern](site, context), by_instance)
        except Refusal as refusal:
            reasons[site.id] = str(refusal)
            continue
        rewrites[site.id] = rewrite
        if rewrite.partial:
            reasons[site.id] = rewrite.partial
    variants = _variants(by_instance, context)
    return Plan(variants, rewrites, reasons)


def _fitting(rewrite: Rewrite, by_instance: dict[str, list[Rewrite]]) -> Rewrite:
    """Adds the rewrite to its instance; refuses lines that another site has changed already."""
    present = by_instance.setdefault(rewrite.instance, [])
    if any(other.key == rewrite.key for other in present):
        return rewrite
    for other in present:
        if overlap([*other.edits, *rewrite.edits]):
            raise Refusal(f"{rewrite.pattern} and {other.pattern} would change the same lines of {rewrite.forward.name}")
    present.append(rewrite)
    return rewrite


def _variants(by_instance: dict[str, list[Rewrite]], context: Context) -> list[Variant]:
    found: dict[tuple[Any, frozenset[Any]], Variant] = {}
    for instance, rewrites in by_instance.items():
        if not rewrites:
            continue
        forward = rewrites[0].forward
        key = (forward.key, frozenset(rewrite.key for rewrite in rewrites))
        found.setdefault(key, Variant(forward, rewrites)).instances.append(instance)
    variants = sorted(found.values(), key=lambda variant: -len(variant.rewrites))
    return [variant for index, variant in enumerate(variants) if not _absorbed(variant, variants[:index], context)]


def _absorbed(variant: Variant, larger: list[Variant], context: Context) -> bool:
    """Moves the instances to a variant whose additional lines never run for them, so that one text serves the class."""
    own = {rewrite.key for rewrite in variant.rewrites}
    for other in larger:
        extra = [rewrite for rewrite in other.rewrites if rewrite.key not in own]
        if other.forward.key != variant.forward.key or len(extra) + len(own) != len(other.rewrites):
            continue
        inert = all(rewrite.guard and _is_off(context.module(path), rewrite.guard)
                    for rewrite in extra for path in variant.instances)
        if inert and not any(rewrite.merges for rewrite in extra):
            other.instances += variant.instances
            return True
    return False


def _is_off(module: torch.nn.Module, attribute: str) -> bool:
    value = getattr(module, attribute, None)
    return value is None or (isinstance(value, (bool, int)) and not value)


def emit(request: Request, model: torch.nn.Module, out: Path, withdrawn: dict[tuple[str, str], str] | None = None,
         unchecked: str = "") -> dict[str, Any]:
    """Writes the sources, the diffs and index.json into the existing empty folder `out`; returns the index.

    `withdrawn`: reasons of the (module, class) that get no source; `unchecked`: why no source was run before, for the index."""
    plan = plan_sources(request, model)
    for variant in list(plan.variants):
        reason = (withdrawn or {}).get((variant.forward.owner.__module__, variant.forward.owner.__qualname__))
        if reason:
            plan.variants.remove(variant)
            _withdraw(plan, variant, reason)
    modules = dict(model.named_modules())
    entries: list[dict[str, Any]] = []
    names: set[str] = set()
    for variant in plan.variants:
        sizes = {path: [merge_sizes(modules[path], merge) for merge in variant.merges] for path in variant.instances}
        try:
            rendered = render(variant.forward, [edit for rewrite in variant.rewrites for edit in rewrite.edits],
                              variant.patterns, variant.merges, next(iter(sizes.values())))
        except Refusal as refusal:
            _withdraw(plan, variant, str(refusal))
            continue
        name = _file_name(variant.forward, names)
        _write(out, name, rendered)
        entries.append(_class_entry(variant, name, rendered, modules, sizes))
    index = _index(request, plan, entries) | {"unchecked": unchecked or None}
    (out / INDEX).write_text(json.dumps(index, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return index


def merge_sizes(module: torch.nn.Module, merge: Merge) -> list[int]:
    return [int(getattr(module, child).out_features) for child in merge.children]


def _withdraw(plan: Plan, variant: Variant, reason: str) -> None:
    for site, rewrite in list(plan.rewrites.items()):
        if rewrite.instance in variant.instances:
            del plan.rewrites[site]
            plan.reasons[site] = reason


def _file_name(forward: Forward, taken: set[str]) -> str:
    base = f"{forward.file.path.stem}.{forward.owner.__name__}"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}.{number}"
    taken.add(name)
    return name


def _write(out: Path, name: str, rendered: Rendered) -> None:
    (out / f"{name}.py").write_text(rendered.source, encoding="utf-8")
    (out / f"{name}.diff").write_text(rendered.diff, encoding="utf-8")


def _class_entry(variant: Variant, name: str, rendered: Rendered, modules: dict[str, torch.nn.Module],
                 sizes: dict[str, list[list[int]]]) -> dict[str, Any]:
    forward = variant.forward
    same = [path for path, module in modules.items() if _runs(module, forward)]
    merges = [{"name": merge.name, "children": list(merge.children), "sizes_attribute": merge.sizes_attribute or None}
              for merge in variant.merges]
    return {
        "class": forward.owner.__qualname__, "module": forward.owner.__module__, "source": forward.relative_path(),
        "source_sha256": forward.file.sha256, "line": forward.node.lineno, "python": f"{name}.py", "diff": f"{name}.diff",
        "patterns": variant.patterns, "merges": merges,
        "bypassed": sorted({child for rewrite in variant.rewrites for child in rewrite.bypassed}),
        "instances": sorted(variant.instances, key=_natural),
        "every_instance": len(same) == len(variant.instances),
        "sizes": {path: value for path, value in sizes.items() if value},
        "lines_added": rendered.added, "lines_removed": rendered.removed,
    }


def _runs(module: torch.nn.Module, forward: Forward) -> bool:
    return next((base for base in type(module).__mro__ if "forward" in vars(base)), None) is forward.owner


def _natural(path: str) -> list[Any]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in path.split(".")]


def _index(request: Request, plan: Plan, entries: list[dict[str, Any]]) -> dict[str, Any]:
    import transformers

    by_instance = {(path, entry["module"], entry["class"]): entry for entry in entries for path in entry["instances"]}
    sites = {site.id: _site_entry(site, plan, by_instance) for site in request.sites}
    state: dict[str, Any] = {}
    for entry in entries:
        for path in entry["instances"]:
            for number, merge in enumerate(entry["merges"]):
                state[f"{path}.{merge['name']}"] = [
                    {"name": f"{path}.{child}", "rows": rows}
                    for child, rows in zip(merge["children"], entry["sizes"][path][number])]
    return {"schema": SCHEMA, "torch": torch.__version__, "transformers": transformers.__version__, "sites": sites,
            "classes": entries,
            "merged": state}


def _site_entry(site: Site, plan: Plan, entries: dict[tuple[str, str, str], dict[str, Any]]) -> dict[str, Any]:
    rewrite = plan.rewrites.get(site.id)
    form = None
    if rewrite is not None:
        owner = rewrite.forward.owner
        entry = entries[(rewrite.instance, owner.__module__, owner.__qualname__)]
        form = {"pattern": rewrite.pattern, "instance": rewrite.instance} | {
            key: entry[key] for key in ("class", "source", "line", "python", "diff")}
    if rewrite is None or rewrite.partial:
        return {"form": None, "reason": plan.reasons[site.id]} | ({"partial": form} if form else {})
    return {"form": form}
