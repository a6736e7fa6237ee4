#!/usr/bin/env python3
"""Makes a store by the urnd of commit b29537cd, and records what it answers: see README.md.

b29537cd.py URND SEED DIRECTORY: URND is that program with a clock that begins at FIXTURE_NOW, and SEED puts into a store what no command leaves there.
"""
import http.client, json, os, shutil, subprocess, sys, time

URND, SEED, DIR = sys.argv[1:4]
HOST, SERVICE, ADMIN = "127.0.0.1", 18771, 18772
BASE = f"http://{HOST}:{SERVICE}"
CONFIG = f"""listen:
  service: ['{HOST}:{SERVICE}']
  admin: '{HOST}:{ADMIN}'
registry:
  store: 'sqlite:STORE'
  hosts: [purl.example]
  only: ['urn:', 'ark:/12345/', 'hdl:20.500.9/', 'https://purl.example/']
ddds: {{enabled: false}}
cache:
  directory: {DIR}/state
"""
EXPECTED = {"commit": "b29537cd", "base": "BASE stands for the URL of the service"}


def config(store):
    path = f"{DIR}/urnd.yaml"
    with open(path, "w") as f:
        f.write(CONFIG.replace("STORE", store))
    return path


def run(*args, at="", store="registry.db", stdin="", status=(0,)):
    """Runs a command of the registry at a time."""
    env = dict(os.environ, FIXTURE_NOW=at)
    p = subprocess.run([URND, "registry", *args, "--config", config(f"{DIR}/{store}")], env=env, input=stdin, capture_output=True, text=True, timeout=120)
    if p.returncode not in status:
        sys.exit(f"{args}: {p.returncode}\n{p.stdout}{p.stderr}")
    return p.stdout


class Daemon:
    """The daemon, which runs at a time."""

    def __init__(self, at="", store="registry.db"):
        self.log = open(f"{DIR}/daemon.log", "a")
        self.process = subprocess.Popen([URND, "serve", "--config", config(f"{DIR}/{store}")], env=dict(os.environ, FIXTURE_NOW=at), stdout=self.log, stderr=self.log)

    def __enter__(self):
        for _ in range(600):
            try:
                if self.request("GET", "/readyz", port=ADMIN)[0] == 200:
                    return self
            except OSError:
                pass
            time.sleep(0.1)
        sys.exit("urnd is not ready: see daemon.log")

    def __exit__(self, *_):
        self.process.terminate()
        if self.process.wait(60):
            sys.exit("urnd has failed: see daemon.log")

    @staticmethod
    def request(method, path, headers=None, body=None, port=SERVICE):
        c = http.client.HTTPConnection(HOST, port, timeout=60)
        c.request(method, path, body, headers or {})
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        return r.status, {k.lower(): v for k, v in r.getheaders()}, text

    def api(self, method, path, token, body=None, headers=None, want=(200, 201, 202, 204)):
        headers = dict({"Authorization": "Bearer " + token}, **(headers or {}))
        if body is not None and "Content-Type" not in headers:
            headers["Content-Type"] = "application/json"
        status, fields, text = self.request(method, "/api/v1/" + path, headers, body, ADMIN)
        if want and status not in want:
            sys.exit(f"{method} {path}: {status} {text}")
        return status, fields, json.loads(text) if text.startswith(("{", "[")) else text


def token(name, role, *more):
    return run("token", "create", "--name", name, "--role", role, *more, at="2025-01-05T08:00:00Z").split()[0]


def make():
    """Makes the store."""
    run("set", "urn:nbn:fi:ex-1", "https://a.example/1", "--contact", "mailto:anna@example.org", "--note", "first <b> & ä\u2028", at="2025-01-05T07:00:00Z")
    secrets = {
        "catalogue": token("catalogue", "writer", "--prefix", "urn:nbn:fi:"),
        "statistics": token("statistics", "reader", "--note", "of the library"),
        "chief": token("chief", "admin"),
        "minter": token("minter", "writer", "--prefix", "urn:nbn:fi:", "--action", "mint", "--action", "read"),
        "expired": token("expired", "reader", "--expires", "2026-01-01"),
        "revoked": token("revoked", "reader"),
    }
    ids = [json.loads(line) for line in run("token", "list", "--json").splitlines()]
    run("token", "revoke", next(t["id"] for t in ids if t["name"] == "revoked"), at="2025-02-01T08:00:00Z")
    EXPECTED["secrets"] = secrets

    prefix = lambda *a, **k: run("set", *a, "--prefix", **k)
    prefix("urn:nbn:fi:", "--authoritative", "--contact", "Library", at="2025-01-06T08:00:00Z")
    prefix("urn:nbn:fi:gen:", "https://gen.example/{suffix}", "--pattern", "[0-9]{4}", "--redirect", "303", at="2025-01-06T08:01:00Z")
    prefix("urn:nbn:fi:test:", "--sandbox", at="2025-01-06T08:02:00Z")
    prefix("urn:example:own:", "https://own.example/", at="2025-01-06T08:03:00Z")
    prefix("urn:example:own:", "https://own2.example/x/", "--note", "moved", at="2025-06-06T08:03:00.5Z")

    # Histories at different times: targets with all members, metadata as it was written, withdrawn and active again.
    run("set", "urn:nbn:fi:ex-1", "--target", "https://a.example/1.pdf", "--type", "application/pdf", "--language", "fi", "--priority", "2",
        "--target-note", "scan", "--rel", "item", "--title", "Sivut ä", "--context", "FI", "--from", "2024-12-31", "--until", "2031-01-01",
        "--target", "https://a.example/1", "--type", "text/html", "--from", "1970-01-01",
        "--metadata", '{"title": "Kalevala",  "year":1835.0, "title2":"\u00e4\\u00e4"}', "--redirect", "307", at="2025-03-01T12:00:00.123Z")
    run("withdraw", "urn:nbn:fi:ex-1", "--reason", "errors", at="2025-05-01T12:00:00Z")
    run("set", "urn:nbn:fi:ex-1", "https://c.example/1", "--activate", "--note", "mended", at="2025-07-01T12:00:00.999Z")
    run("set", "urn:nbn:fi:ex-1", "--note", "a note alone", at="2025-08-01T12:00:00Z")
    kinds = ["urn:isbn:9789510184349", "urn:issn:0317-8471", "ark:/12345/x1", "hdl:20.500.9/h1", "urn:doi:10.5555/a1", "https://purl.example/a",
             "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "urn:example:book,1", "urn:example:a%2Cb", "urn:ietf:rfc:9999"]
    for i, name in enumerate(kinds):
        for n in range(1 + i % 3):
            run("set", name, f"https://kinds.example/{i}/{n}", at=f"2025-0{2 + 2 * n}-10T0{i}:00:00Z")
    run("set", "urn:nbn:fi:ex-2", "--reserve", at="2025-02-02T00:00:00Z")
    run("set", "urn:nbn:fi:alias-1", "--alias-of", "urn:nbn:fi:ex-1", at="2025-02-03T00:00:00Z")
    run("set", "urn:isbn:9783161484100", "--alias-of", "urn:nbn:fi:ex-1", at="2025-02-03T00:00:01Z")
    run("set", "urn:nbn:fi:alias-2", "--alias-of", "urn:nbn:fi:ex-2", at="2025-02-03T00:00:02Z")
    run("set", "urn:nbn:fi:alias-2", "--alias-of", "urn:example:book,1", at="2025-04-03T00:00:02Z")
    run("set", "urn:nbn:fi:gen:0007", "https://special.example/7", at="2025-02-04T00:00:00Z")
    run("set", "urn:nbn:fi:old-1", "https://a.example/old-1", at="2025-02-05T00:00:00Z")
    run("supersede", "urn:nbn:fi:old-1", "--by", "urn:nbn:fi:ex-1", "--reason", "merged", "--note", "duplicates", at="2025-09-05T00:00:00Z")

    # A sandbox with purged names; one is registered again.
    for i in range(4):
        run("set", f"urn:nbn:fi:test:{i}:x", f"https://test.example/{i}", at=f"2025-03-03T00:00:0{i}Z")
    run("set", "urn:nbn:fi:test:1:x", "https://test.example/again", at="2025-03-04T00:00:00Z")
    run("purge", "urn:nbn:fi:test:1:", "--yes", "--note", "one is over", at="2025-03-05T00:00:00Z")
    run("purge", "urn:nbn:fi:test:2:", "--yes", at="2025-03-05T00:00:01Z")
    run("set", "urn:nbn:fi:test:1:x", "https://test.example/new", at="2025-03-06T00:00:00Z")

    # A redaction.
    run("set", "urn:nbn:fi:private", "https://a.example/personal", "--metadata", '{"author":"Anna"}', at="2025-04-01T00:00:00Z")
    run("set", "urn:nbn:fi:private", "https://a.example/public", "--metadata", "", at="2025-04-02T00:00:00Z")
    run("redact", "urn:nbn:fi:private", "--version", "1", "--reason", "personal data", at="2025-04-03T00:00:00Z")

    # Change sets: an import, one with changes and rejections, a rewrite and a revert.
    names = "".join(f"urn:nbn:fi:im-{i},https://im.example/{i}\n" for i in range(300))
    run("import", "--format", "csv", "--note", "from the old resolver", "-", stdin="name,target\n" + names, at="2025-10-01T00:00:00Z")
    changed = "".join(f"urn:nbn:fi:im-{i},https://wrong.example/{i}\n" for i in range(20, 60)) + "not a name,https://x.example/\n"
    run("import", "--overwrite", "--format", "csv", "-", stdin="name,target\n" + changed + "urn:nbn:fi:im-new,https://wrong.example/new\n",
        at="2025-10-02T00:00:00Z", status=(1,))
    wrong = [json.loads(line) for line in run("changes", "--json").splitlines()][-1]["number"]
    run("set", "urn:nbn:fi:im-21", "https://right.example/21", at="2025-10-03T00:00:00Z")
    run("revert", str(wrong), "--note", "wrong file", at="2025-10-04T00:00:00Z", status=(1,))
    run("rewrite", "urn:nbn:fi:im-1", "--replace", "https://im.example/", "--with", "https://im2.example/", "--note", "new server", at="2025-10-05T00:00:00Z")

    # Counters of minting.
    for pattern, number in PATTERNS:
        run("mint", "-n", str(number), pattern, "--note", "minted", at="2025-11-01T00:00:00Z")

    # The API: changes, jobs, idempotency keys, and a batch of names that are minted.
    with Daemon("2025-11-10T12:00:00Z") as d:
        d.api("PUT", "names?uri=urn:nbn:fi:api-1", secrets["catalogue"], json.dumps({"targets": [{"uri": "https://api.example/1"}], "note": "by the API"}),
              {"If-None-Match": "*"})
        body = "name,target\n" + "".join(f"urn:nbn:fi:job-{i},https://job.example/{i}\n" for i in range(20)) + "broken,x\n"
        kinds = {"Content-Type": "text/csv", "Idempotency-Key": "catalogue-2025-11-10"}
        _, _, job = d.api("POST", "jobs?note=by+a+job", secrets["catalogue"], body, kinds)
        _, _, again = d.api("POST", "jobs?note=by+a+job", secrets["catalogue"], body, kinds)
        if job["id"] != again["id"]:
            sys.exit(f"the key made two jobs: {job} {again}")
        _, _, dry = d.api("POST", "jobs?dry_run=true", secrets["chief"], "name,target\nurn:nbn:fi:job-1,https://dry.example/\n", {"Content-Type": "text/csv"})
        for j in (job, dry):
            for _ in range(300):
                if d.api("GET", "jobs/" + j["id"], secrets["chief"])[2]["state"] in ("done", "failed", "cancelled"):
                    break
                time.sleep(0.1)
        EXPECTED["idempotency"] = {"key": kinds["Idempotency-Key"], "token": "catalogue", "path": "jobs?note=by+a+job", "type": "text/csv", "body": body, "job": job["id"]}

    # Names as an earlier version registered them, which are renamed; a lease, the health of a target, and how far an import is.
    subprocess.run([SEED, f"{DIR}/registry.db"], check=True)
    run("migrate", "--no-backup", at="2025-11-15T00:00:00Z")
    run("set", "ark:/12345/oldname", "https://ark.example/renamed", at="2025-11-16T00:00:00Z")

    # Counts of days, by people and bots; the daemon writes them when it ends.
    for i, day in enumerate(["2024-08-02", "2025-11-10", "2025-11-11", "2025-12-31", "2026-01-01", "2026-11-20"]):
        with Daemon(day + "T12:00:00Z") as d:
            for name in ["urn:nbn:fi:ex-1"] * (i + 1) + ["urn:nbn:fi:alias-1", "urn:nbn:fi:gen:1234", "urn:isbn:9789510184349", "urn:nbn:fi:im-7"]:
                d.request("GET", "/" + name, {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/120.0"})
            d.request("GET", "/urn:nbn:fi:ex-1", {"User-Agent": "Googlebot/2.1 (+http://www.google.com/bot.html)"})
    run("backup", f"{DIR}/backup.db")  # sets a mark


PATTERNS = [("urn:nbn:fi:m-{counter}", 3), ("urn:nbn:fi:m6-{counter:6}", 11), ("urn:nbn:de:bvb:12-bsb{counter:8}-{nbn}", 2), ("urn:isbn:978951{counter}", 2),
            ("urn:issn:2342{counter}", 2), ("ark:/12345/c{counter:4}{check}", 2), ("noid:ark:/12345/fk.reedeedk", 2), ("noid:ark:/12345/s.sdd", 12),
            ("urn:nbn:fi:r-{random:8}{check}", 2)]


def lines(*args, **more):
    return [json.loads(line) for line in run(*args, **more).splitlines()]


def record():
    """Records what the program answers with the store."""
    e = EXPECTED
    for kind, flags in (("names", ()), ("prefixes", ("--prefix",))):
        found = lines("search", "--limit", "0", "--json", *flags)
        e[kind] = {"search_total": len(found), "get": [], "history": {}}
        for name in [n.get("name") or n["prefix"] for n in found]:
            e[kind]["get"].append(json.loads(run("get", name, "--json", *flags)))
            if name.startswith("urn:nbn:fi:im-") and name[14:] not in ("0", "1", "10", "20", "21", "22", "59", "new"):
                continue
            e[kind]["history"][name] = lines("history", name, "--limit", "0", "--json", *flags)
    e["changes"] = lines("changes", "--json")
    e["changes_of"] = {str(s["number"]): run("changes", "--set", str(s["number"])) for s in e["changes"] if s["rows"] < 60}
    e["search"] = {" ".join(a): len(lines("search", "--limit", "0", "--json", *a)) for a in (
        ("--below", "urn:nbn:fi:im-1"), ("--target", "//im2.example/"), ("--target", "//wrong.example/"), ("--status", "withdrawn"), ("--status", "reserved"),
        ("--alias-of", "urn:nbn:fi:ex-1"), ("kalevala",), ("https://c.example",), ("--below", "urn:nbn:fi:", "--status", "active"))}
    e["get_at"] = {at: {name: json.loads(text) if (text := run("get", name, "--at", at, "--json", status=(0, 1))) else None for name in TIMED} for at in TIMES}
    e["stats"] = json.loads(run("stats", "--json"))
    del e["stats"]["store"], e["stats"]["size"]
    e["health"] = run("health", status=(0, 1))
    e["counts"] = {" ".join(a): json.loads(run("stats", "--json", *a)) for a in (
        ("--since", "2024-01-01"), ("urn:nbn:fi:ex-1", "--since", "2024-01-01"), ("urn:isbn:9789510184349", "--since", "2024-01-01"), ("urn:nbn:fi:im-7", "--since", "2024-01-01"),
        ("urn:nbn:fi:gen:", "--prefix", "--since", "2024-01-01"), ("--top", "5", "--day", "2025-12-31"))}
    e["tokens"] = lines("token", "list", "--json")

    # The next names, of a copy.
    shutil.copyfile(f"{DIR}/registry.db", f"{DIR}/copy.db")
    e["next_minted"] = {p: run("mint", "-n", "3", p, store="copy.db", status=(0, 1)).split() for p, _ in PATTERNS if "random" not in p}

    # A copy, since tokens keep when they were used last.
    shutil.copyfile(f"{DIR}/registry.db", f"{DIR}/copy.db")
    with Daemon(store="copy.db") as d:
        e["token_works"] = {}
        for name, secret in e["secrets"].items():
            status = {}
            status["GET names?uri=urn:nbn:fi:ex-1"] = d.api("GET", "names?uri=urn:nbn:fi:ex-1", secret, want=None)[0]
            document = json.dumps({"targets": [{"uri": "https://token.example/"}]})
            for uri in ("urn:nbn:fi:by-" + name, "urn:example:by-" + name):
                status["PUT names?uri=" + uri] = d.api("PUT", "names?uri=" + uri, secret, document, {"If-None-Match": "*"}, None)[0]
            status["GET tokens"] = d.api("GET", "tokens", secret, want=None)[0]
            e["token_works"][name] = status
        chief = e["secrets"]["chief"]
        e["jobs"] = d.api("GET", "jobs", chief)[2]
        e["api_statistics"] = {q: d.api("GET", "statistics?" + q, chief)[2] for q in ("uri=urn:nbn:fi:ex-1", "since=2025-11-01", "prefix=urn:nbn:fi:im-1")}
        events, cursor = [], ""
        while True:
            page = d.api("GET", "registry/versions" + cursor, chief)[2]
            found = page.get("versions") or page.get("events") or []
            events += found
            if not found or not page.get("next") or not page.get("more", True):
                break
            cursor = "?cursor=" + page["next"]
        e["api_versions"] = [v for v in events if v["seq"] <= e["stats"]["seq"]]  # without those that tokens have made above
    shutil.copyfile(f"{DIR}/registry.db", f"{DIR}/copy.db")
    with Daemon(store="copy.db") as d:
        e["http"] = []
        for name in TIMED:
            paths = [(f"/{name}", ""), (f"/timemap/{name}", ""), (f"/timegate/{name}", "")]
            paths += [(f"/timegate/{name}", at) for at in TIMES] + [(f"/uri-res/N2C?{name}", at) for at in TIMES[1:3]]
            paths += [("/memento/" + at.translate({ord(c): None for c in "-:TZ"}) + "/" + name, "") for at in TIMES]
            for path, at in paths:
                e["http"].append(answer(d, path, at))
        for name in ["urn:nbn:fi:gen:1234", "urn:nbn:fi:gen:x", "urn:nbn:fi:none", "urn:example:own:z", "urn:nbn:fi:test:2:x", "urn:nbn:fi:im-22", "urn:nbn:fi:im-new"]:
            e["http"].append(answer(d, "/" + name, ""))


TIMED = ["urn:nbn:fi:ex-1", "ark:/12345/oldname", "urn:example:alias-of-ark", "urn:nbn:fi:alias-1", "urn:nbn:fi:alias-2", "urn:isbn:9783161484100", "urn:isbn:9789510184349", "urn:issn:0317-8471", "ark:/12345/x1",
         "urn:example:book,1", "urn:doi:10.5555/a1", "urn:nbn:fi:private", "urn:nbn:fi:old-1", "urn:nbn:fi:test:1:x", "urn:nbn:fi:im-21", "urn:nbn:fi:im-20"]
TIMES = ["2024-01-01T00:00:00Z", "2025-02-15T00:00:00Z", "2025-03-05T00:00:00Z", "2025-05-01T12:00:00Z", "2025-07-01T12:00:00Z", "2025-10-02T12:00:00Z", "2026-06-01T00:00:00Z"]


def answer(d, path, at):
    """The answer to a request for a time."""
    headers = {}
    if at:
        headers["Accept-Datetime"] = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.strptime(at, "%Y-%m-%dT%H:%M:%SZ"))
    status, fields, body = d.request("GET", path, headers)
    made = {"path": path, "accept_datetime": headers.get("Accept-Datetime", ""), "status": status}
    for field in ("location", "memento-datetime", "vary"):
        if field in fields:
            made[field] = fields[field].replace(BASE, "BASE")
    if "link" in fields and path.startswith("/timegate/") and not at:
        made["link"] = fields["link"].replace(BASE, "BASE")
    if path.startswith("/timemap/"):
        made["body"] = body.replace(BASE, "BASE")
    return made


def document(expected):
    """A line for each element, to be compared by lines."""
    text = lambda v: json.dumps(v, ensure_ascii=False)
    members = []
    for name, value in expected.items():
        if isinstance(value, list):
            value = "[\n  " + ",\n  ".join(map(text, value)) + "]"
        elif isinstance(value, dict):
            value = "{\n  " + ",\n  ".join(text(k) + ": " + text(v) for k, v in value.items()) + "}"
        else:
            value = text(value)
        members.append(text(name) + ": " + value)
    return "{" + ",\n".join(members) + "}\n"


if __name__ == "__main__":
    os.makedirs(DIR + "/state", exist_ok=True)
    make()
    record()
    with open(DIR + "/b29537cd.json", "w") as f:
        f.write(document(EXPECTED))
