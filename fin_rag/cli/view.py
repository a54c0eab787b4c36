"""``fin-rag view``: a page over an index, served to this machine alone."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path

from fin_rag.index import FilingIndex
from fin_rag.inspector.lookup import Viewer
from fin_rag.inspector.server import HOST, make_server


def run(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    with ExitStack() as stack:
        indexes: dict[str, FilingIndex] = {}
        for folder in dict.fromkeys(one for one in (options.index, options.beside) if one):
            index = FilingIndex.open(folder, create=False)
            stack.callback(index.close)
            name = Path(folder).name
            indexes[name if name not in indexes else folder] = index
        viewer = Viewer(indexes, options.session)
        stack.callback(viewer.close)
        server = stack.enter_context(make_server(viewer, options.port))
        address = f"http://{HOST}:{server.server_port}/"
        print(json.dumps({"address": address}) if options.json else f"{address} (Ctrl-C ends it)", flush=True)
        if options.open:
            _open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(file=sys.stderr)
    return 0


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
