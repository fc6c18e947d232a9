#!/usr/bin/env python3
"""Builds the documentation site from docs/ with mdBook, and checks every link and anchor of it. usage: build.py MDBOOK OUT

The contents follow docs/README.md. Links out of docs/ lead to the repository.
"""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
REPOSITORY = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["repository"]
BOOK = f"""\
[book]
title = "hookbox"
description = "Runs AI agents' hooks as sandboxed WebAssembly components"
language = "en"
src = "src"

[output.html]
git-repository-url = "{REPOSITORY}"
no-section-label = true
smart-punctuation = false
additional-js = ["access.js"]

[output.html.fold]
enable = true

[output.html.search]
limit-results = 20
"""
LINK = re.compile(r"(\[[^\]]*\]\()([^)\s]+)(\))")


def main(mdbook, out):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "src"
        shutil.copytree(DOCS, source)
        for page in source.rglob("*.md"):
            page.write_text(with_links(page.read_text(), DOCS / page.relative_to(source)))
        for page in list(source.rglob("README.md")):
            page.rename(page.with_name("index.md"))
        (source / "SUMMARY.md").write_text(summary())
        shutil.copy(pathlib.Path(__file__).with_name("access.js"), folder)
        (pathlib.Path(folder) / "book.toml").write_text(BOOK)
        subprocess.run([mdbook, "build", folder, "--dest-dir", pathlib.Path(out).resolve()], check=True)
    wrong = broken(pathlib.Path(out))
    if wrong:
        raise SystemExit("\n".join(["error: broken links", *wrong]))


def title(page):
    return page.read_text().split("\n", 1)[0].removeprefix("# ")


def summary():
    """The pages as docs/README.md has them, section by section, and every decision."""
    lines, seen = ["# Contents", "", "[Documentation](index.md)", ""], {"README.md"}
    for line in (DOCS / "README.md").read_text().splitlines():
        if line.startswith("## "):
            lines += ["", f"# {line.removeprefix('## ')}", ""]
        for target in re.findall(r"\]\(([^)#]+)\)", line):
            pages = sorted((DOCS / target).glob("*.md")) if target.endswith("/") else [DOCS / target]
            for page in pages:
                name = str(page.relative_to(DOCS))
                if page.suffix == ".md" and name not in seen:
                    seen.add(name)
                    lines.append(f"- [{title(page)}]({name.replace('README.md', 'index.md')})")
    missing = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} - seen
    if missing:
        raise SystemExit(f"error: docs/README.md does not name {', '.join(sorted(missing))}")
    return "\n".join(lines) + "\n"


def with_links(text, page):
    """A page whose links out of docs/ lead to the repository, and those to folders to a page."""
    def target(match):
        before, link, after = match.groups()
        path, _, anchor = link.partition("#")
        if not path or urllib.parse.urlparse(link).scheme:
            return match.group(0)
        real = (page.parent / path).resolve()
        if not real.exists():
            raise SystemExit(f"error: {page.relative_to(ROOT)}: {link} does not exist")
        if DOCS in [real, *real.parents]:
            if real.is_dir():
                # A folder without a page of its own is listed in the contents.
                index = real if (real / "README.md").exists() else DOCS
                path = f"{os.path.relpath(index, page.parent)}/README.md"
            return f"{before}{re.sub('README.md$', 'index.md', path)}{'#' if anchor else ''}{anchor}{after}"
        kind = "tree" if real.is_dir() else "blob"
        return f"{before}{REPOSITORY}/{kind}/main/{real.relative_to(ROOT)}{'#' if anchor else ''}{anchor}{after}"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(target, part) for part in parts)


class Page(html.parser.HTMLParser):
    """Links, anchors and loaded files of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.loaded = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id"):
            self.anchors.add(values["id"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        for name in ["src", "href"]:
            if tag != "a" and values.get(name):
                self.loaded.append(values[name])


def broken(out):
    """Links of the site that lead to no page or no anchor, and files that it would load from elsewhere."""
    pages = {path: Page(path.read_text()) for path in out.rglob("*.html")}
    wrong = []
    for path, page in pages.items():
        name = path.relative_to(out)
        wrong += [f"{name} loads {url} from elsewhere" for url in page.loaded if "//" in url]
        for link in page.links if name.name not in ["404.html", "toc.html", "print.html"] else []:
            parts = urllib.parse.urlparse(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                wrong.append(f"{name}: {link} does not exist")
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{name}: {link} has no such heading")
    return sorted(set(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
