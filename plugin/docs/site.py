#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the documentation site with MkDocs and its theme Material, and checks every link: site.py FOLDER

FOLDER/site has the site afterwards, and FOLDER/site-pages the pages that MkDocs reads: every .md file of the project, a page for each
element, from the files that cache.py keeps, and each file that a page names. Sources become pages, too. Exits 77, and says what to
install, where a tool is missing.
"""
import html
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(TOP / 'tests'))
import readme  # noqa: E402

LANGUAGES = {'.c': 'c', '.h': 'c', '.cu': 'cuda', '.cuh': 'cuda', '.py': 'python', '.html': 'html', '.txt': 'text', '.map': 'text'}
STYLE = '.md-grid { max-width: 76rem }\n.highlight code { white-space: pre-wrap }\n'  # lines of code have up to 120 columns
CODE_IN_TABLE = re.compile(r'`[^`\n]*`')


def place(path):
    """Where the site has a file of the project. MkDocs leaves out folders whose names begin with a point."""
    if path.is_dir():
        path /= 'README.md'
    path = path.relative_to(TOP)
    if path.parts[0] == '.github':
        path = path.relative_to('.github')
    return pathlib.Path(f'{path}.md') if path.suffix in LANGUAGES else path


def text_of(path, named):
    """A page as Python-Markdown takes it, with links for the site. The files that it names are added to named."""
    def link(match):
        name, mark, heading = match[1].partition('#')
        if re.match(r'[a-z]+:', match[1]) or not name:
            return match[0]
        target = (path.parent / name).resolve()
        named.add(target)
        return match[0].replace(f']({match[1]})', f']({os.path.relpath(place(target), place(path).parent)}{mark}{heading})')

    parts, end, text = [], 0, path.read_text(encoding='utf-8')
    for code in readme.CODE.finditer(text):  # a link inside code is none
        parts += [readme.LINK.sub(link, text[end:code.start()]), code[0]]
        end = code.end()
    text = ''.join(parts) + readme.LINK.sub(link, text[end:])
    # In a table GitHub reads \| as | in code, too.
    return re.sub(r'^\|.*$', lambda row: CODE_IN_TABLE.sub(lambda code: code[0].replace(r'\|', '|'), row[0]), text, flags=re.MULTILINE)


def source_page(path):
    return (f'---\nsearch:\n  exclude: true\n---\n# {path.relative_to(TOP)}\n\n````{LANGUAGES[path.suffix]}\n'
            f'{path.read_text(encoding="utf-8")}\n````\n')


def element_page(name, element, types, since):
    """A heading for each property, for links and for the search, and the pads."""
    kind = element['hierarchy'][0]
    yield f'# {name}\n\n{element["description"]}.\n\n`{" > ".join(reversed(element["hierarchy"]))}`\n\n## Properties\n\n'
    for prop, row in element['properties'].items():
        facts = [f'`{row["type"]}`']
        if 'min' in row:
            facts.append(f'{row["min"]} to {row["max"]}')
        if 'default' in row and row['writable']:
            facts.append(f'default `{re.sub(r" [(].*[)]$", "", row["default"])}`')
        facts += [word for word, is_so in (('controllable', row['controllable']), ('read-only', not row['writable']),
                                           ('changes in NULL and READY alone', row['mutable'] == 'ready')) if is_so]
        yield f'### {prop}\n\n{html.escape(row["blurb"], quote=False)}.\n\n{", ".join(facts)}; since {since[f"{kind}:{prop}"]}\n\n'
        for value in types.get(row['type'], {}).get('values', []):
            yield f'- `{value["name"]}`: {html.escape(value["desc"], quote=False)}\n'
        yield '\n'
    yield '## Pads\n\n'
    for pad, template in element['pad-templates'].items():
        caps = '\n'.join(textwrap.fill(line, 80, subsequent_indent=' ' * 18) for line in template['caps'].split('\n'))
        yield f'`{pad}`, {template["presence"]}:\n\n```text\n{caps.strip()}\n```\n\n'


def lay_out(pages):
    """Writes the pages, and returns the names of those that the navigation has to have."""
    shutil.rmtree(pages, ignore_errors=True)
    named, wanted = set(), []

    def write(where, text):
        (pages / where).parent.mkdir(parents=True, exist_ok=True)
        (pages / where).write_text(text, encoding='utf-8')

    write('site.css', STYLE)
    for path in readme.tracked():
        write(place(path), text_of(path, named))
        wanted.append(str(place(path)))
    for path in sorted(named):
        if path.suffix in LANGUAGES:
            write(place(path), source_page(path))
        elif path.is_file() and path.suffix != '.md':
            (pages / place(path)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, pages / place(path))
    plugin = json.loads((HERE / 'gst_plugins_cache.json').read_text(encoding='utf-8'))['cudaconvolve']
    since = dict(re.findall(r'^/\*\*\n \* ([\w:-]+):\n.*?Since: (\S+)', (HERE / 'blocks.c').read_text(encoding='utf-8'), re.MULTILINE | re.DOTALL))
    for name, element in plugin['elements'].items():
        write(f'elements/{name}.md', ''.join(element_page(name, element, plugin['other-types'], since)))
        wanted.append(f'elements/{name}.md')
    return wanted


class Links(html.parser.HTMLParser):
    """The links of a page, and the places in it that links can lead to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ('href', 'src') and value:
                self.links.add(value)
            elif name == 'id':
                self.places.add(value)


def broken(site):
    """A sentence for each link that leads nowhere."""
    found = {path: Links(path.read_text(encoding='utf-8')) for path in site.rglob('*.html') if path.name != '404.html'}
    for path, page in found.items():
        for link in sorted(page.links):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            target = target / 'index.html' if target.is_dir() else target
            if not target.is_file():
                yield f'{path.relative_to(site)}: {link} leads to no file'
            elif parts.fragment and target in found and urllib.parse.unquote(parts.fragment) not in found[target].places:
                yield f'{path.relative_to(site)}: {link} leads to no heading'
    print(f'{len(found)} pages, {sum(len(page.links) for page in found.values())} links')


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith('-'):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    pages, site = folder / 'site-pages', folder / 'site'
    install = 'mkdocs and its theme Material are needed: apt-get install mkdocs-material, or pip install mkdocs-material'
    if not shutil.which('mkdocs'):
        print(install)
        return 77
    wanted = lay_out(pages)
    nav = (HERE / 'mkdocs.yml').read_text(encoding='utf-8')
    faults = [f'plugin/docs/mkdocs.yml: nav lacks {name}' for name in wanted if not re.search(rf'[-:] {re.escape(name)}$', nav, re.MULTILINE)]
    (folder / 'site.yml').write_text(nav, encoding='utf-8')
    result = subprocess.run(['mkdocs', 'build', '--quiet', '--strict', '--clean', '-f', folder / 'site.yml'],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if "theme name: 'material'" in result.stdout:
        print(install)
        return 77
    print(result.stdout, end='')
    if result.returncode == 0:
        faults += broken(site)
    print('\n'.join(faults) or f'{site}/index.html, for a browser: python3 -m http.server -d {site}')
    return 1 if faults or result.returncode else 0


if __name__ == '__main__':
    sys.exit(main())
