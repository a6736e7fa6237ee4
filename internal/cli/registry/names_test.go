package registry

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/api"
)

// registryAt is a store on which commands are run.
type registryAt struct {
	t     *testing.T
	store string
}

func emptyRegistry(t *testing.T) registryAt {
	return registryAt{t, "sqlite:" + filepath.Join(t.TempDir(), "registry.db")}
}

// run runs a command with standard input, and returns its output, its messages and its exit status.
func (r registryAt) run(in string, args ...string) (out, messages string, status int) {
	r.t.Helper()
	return run(r.t, in, append([]string{args[0], "--config=", "--store", r.store}, args[1:]...)...)
}

// must runs commands that must succeed. Each is a line whose words contain no spaces.
func (r registryAt) must(lines ...string) {
	r.t.Helper()
	for _, line := range lines {
		if _, messages, status := r.run("", strings.Fields(line)...); status != 0 {
			r.t.Fatalf("%s: %d %s", line, status, messages)
		}
	}
}

var (
	aTime = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`)
	aDay  = regexp.MustCompile(`\d{4}-\d\d-\d\d`)
	aUser = regexp.MustCompile(`, by (?:uid \d+|[\w.-]+)`)
)

// without removes times and users, which vary.
func without(text string) string {
	return aUser.ReplaceAllString(aTime.ReplaceAllString(text, "TIME"), ", by USER")
}

// step is a command. args has the words after its flags, out its complete output, and part a part of its
// messages.
type step struct {
	args      []string
	in        string
	out, part string
	status    int
}

func words(line string, more ...string) []string { return append(strings.Fields(line), more...) }

// A life cycle of names, command by command.
func TestRegistryNames(t *testing.T) {
	r := emptyRegistry(t)
	const a, b = "urn:nbn:fi:a", "urn:nbn:fi:b"
	for _, s := range []step{
		{args: words("get " + a), part: "no file", status: 1},
		{
			args: words("set URN:nbn:fi:a --target https://a.example/1 --if-version 0"),
			out:  a + ": registered, version 1\n  + target https://a.example/1\n",
		},
		{args: words("mint urn:nbn:fi:m"), part: "{counter} or", status: 2},
		{
			args: words("set "+a+" --target", "https://a.example/a b"),
			part: "not allowed in a path (RFC 3986 section 3.3); percent-encoded: https://a.example/a%20b", status: 2,
		},
		{
			args: words("get " + b), part: "not registered: urn:nbn:fi:b\nhint: where a prefix or another system",
			status: 1,
		},
		{args: words("set " + a + " --target https://a.example/1"), out: a + ": unchanged, version 1\n"},
		{args: words("set " + a + " --contact x --if-version 0"), part: "has version 1, not 0", status: 1},
		{
			args: words("set "+a+
				" --target https://a.example/2 --type text/html --language fi --target https://a.example/3 "+
				"--priority 2 --from 2031-05-01 --until 2031-05-31", "--target-note", "a copy", "--note",
				"moved\nhouse"),
			out: a +
				": version 2\n  - target https://a.example/1\n  + target https://a.example/2 (text/html, fi)\n  + " +
				"target https://a.example/3 (priority 2, from 2031-05-01T00:00:00Z, until 2031-06-01T00:00:00Z, \"a " +
				"copy\")\n",
		},
		{
			args: words("set " + a +
				" --add --target https://a.example/2 --type text/plain --remove-target https://a.example/3"),
			out: a +
				": version 3\n  - target https://a.example/2 (text/html, fi)\n  - target https://a.example/3 " +
				"(priority 2, from 2031-05-01T00:00:00Z, until 2031-06-01T00:00:00Z, \"a copy\")\n  + target " +
				"https://a.example/2 (text/plain)\n",
		},
		{
			args:   words("set " + a + " --remove-target https://a.example/9"),
			part:   "it has no target https://a.example/9",
			status: 2,
		},
		{
			args: words("set "+a+" --contact mailto:x@a.example --metadata", `{ "title": "Kalevala" }`),
			out:  a + ": version 4\n  + metadata {\"title\":\"Kalevala\"}\n  + contact mailto:x@a.example\n",
		},
		{args: words("set " + a + " --metadata -"), in: "[]", part: "metadata must be a JSON object", status: 2},
		{
			args: words("set " + a + " --metadata - --contact="), in: `{"title":"Kanteletar"}`,
			out: a +
				": version 5\n  metadata: {\"title\":\"Kalevala\"} -> {\"title\":\"Kanteletar\"}\n  - contact " +
				"mailto:x@a.example\n",
		},
		{
			args: words("set " + a + " --replace --target https://a.example/2"),
			out: a +
				": version 6\n  - target https://a.example/2 (text/plain)\n  + target https://a.example/2\n  - " +
				"metadata {\"title\":\"Kanteletar\"}\n",
		},
		{args: words("set " + b + " --reserve"), out: b + ": registered, version 1\n  + status reserved\n"},
		{
			args: words("set " + b + " --target https://a.example/b"),
			out:  b + ": version 2\n  status: reserved -> active\n  + target https://a.example/b\n",
		},
		{
			args: words("set urn:nbn:fi:c --alias-of " + b),
			out:  "urn:nbn:fi:c: registered, version 1\n  + alias of urn:nbn:fi:b\n",
		},
		{args: words("set " + b + " --alias-of urn:nbn:fi:c"), part: "alias loop", status: 2},
		{
			args: words("get urn:nbn:fi:c"),
			out: "urn:nbn:fi:c\n  status    active since TIME\n  alias of  urn:nbn:fi:b\n  version   1, TIME, by " +
				"USER\n",
		},
		{
			args: words("set urn:nbn:fi:c --target https://a.example/c"),
			out:  "urn:nbn:fi:c: version 2\n  - alias of urn:nbn:fi:b\n  + target https://a.example/c\n",
		},
		{
			args: words("supersede "+b+" urn:nbn:fi:c --by "+a+" --reason", "One work.", "--note", "merged"),
			out: b + ": version 3\n  status: active -> withdrawn\n  + reason One work.\n  + successor " + a +
				"\nurn:nbn:fi:c: version 3\n  status: active -> withdrawn\n  + reason One work.\n  + successor " + a +
				"\n",
		},
		{
			args: words("supersede " + b + " urn:nbn:fi:none --by " + a + " --note x"),
			part: "not registered: urn:nbn:fi:none", status: 1,
		},
		{
			args: words("get " + b),
			out: b +
				"\n  status     withdrawn since TIME\n  reason     One work.\n  successor  urn:nbn:fi:a\n  target   " +
				"  https://a.example/b\n  version    3, TIME, by USER: merged\n",
		},
		{
			args: words("withdraw "+a+" --reason", "Retracted.", "--successor", "https://a.example/why"),
			out: a +
				": version 7\n  status: active -> withdrawn\n  + reason Retracted.\n  + successor " +
				"https://a.example/why\n",
		},
		{
			args: words("set " + a + " --activate"),
			out: a +
				": version 8\n  status: withdrawn -> active\n  - reason Retracted.\n  - successor " +
				"https://a.example/why\n",
		},
		{
			args: words("history " + a + " --limit 2"),
			out: "version 8, TIME, by USER\n  status: withdrawn -> active\n  - reason Retracted.\n  - successor " +
				"https://a.example/why\nversion 7, TIME, by USER\n  status: active -> withdrawn\n  + reason " +
				"Retracted.\n  + successor https://a.example/why\n",
		},
		{
			args: words("history " + b),
			out: "version 3, TIME, by USER: merged\n  status: active -> withdrawn\n  + reason One work.\n  + " +
				"successor urn:nbn:fi:a\nversion 2, TIME, by USER\n  status: reserved -> active\n  + target " +
				"https://a.example/b\nversion 1, TIME, by USER\n  + status reserved\n",
		},
		{args: words("history urn:nbn:fi:none"), part: "not registered", status: 1},
		{
			args: words("get " + a + " --at 2001-01-01"), part: "not registered: urn:nbn:fi:a at 2001-01-01T23:59:59Z",
			status: 1,
		},
		{
			args: words("get " + a + " --at 2131-01-01"),
			out:  a + "\n  status   active since TIME\n  target   https://a.example/2\n  version  8, TIME, by USER\n",
		},
		{
			args: words("set urn:nbn:fi:p: --prefix --target https://a.example/p/ --authoritative --sandbox"),
			out: "urn:nbn:fi:p:*: registered, version 1\n  + target https://a.example/p/\n  + authoritative yes\n  " +
				"+ sandbox yes\n",
		},
		{
			args: words("get urn:nbn:fi:p: --prefix"),
			out: "urn:nbn:fi:p:*\n  status         active since TIME\n  target         https://a.example/p/\n  " +
				"authoritative  names below are not resolved by other systems\n  sandbox        it may be purged\n  " +
				"version        1, TIME, by USER\n",
		},
		{
			args: words("set urn:nbn:fi:q: --prefix --authoritative"),
			out:  "urn:nbn:fi:q:*: registered, version 1\n  + authoritative yes\n",
		},
		{
			args: words("get urn:nbn:fi:q: --prefix"),
			out: "urn:nbn:fi:q:*\n  status         active since TIME\n  authoritative  unregistered names below do " +
				"not exist\n  version        1, TIME, by USER\n",
		},
		{
			args: words("set urn:nbn:fi:p: --prefix --authoritative=false"),
			out:  "urn:nbn:fi:p:*: version 2\n  - authoritative yes\n",
		},
	} {
		out, messages, status := r.run(s.in, s.args...)
		if without(out) != s.out || !strings.Contains(messages, s.part) || s.part == "" && messages != "" ||
			status != s.status {
			t.Errorf("%q: %d\n%s%s\nwant %d\n%s%s", s.args, status, without(out), messages, s.status, s.out, s.part)
		}
	}
}

// A document that get prints makes an equal entry.
func TestRegistryDocument(t *testing.T) {
	r := emptyRegistry(t)
	r.must(`set urn:nbn:fi:a --target https://a.example/1 --type text/html --until 2031-05-01T10:00:00+03:00 --contact x --metadata {"a":[1]} --note n`)
	document, _, status := r.run("", "get", "urn:nbn:fi:a", "--output=json")
	var n api.Name
	if err := json.Unmarshal([]byte(document), &n); err != nil || status != 0 || n.Version != 1 || n.Note != "n" {
		t.Fatalf("%d %s %v", status, document, err)
	}
	file := filepath.Join(t.TempDir(), "name.json")
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, messages, status := r.run("", "set", "--document", file); out != "urn:nbn:fi:a: unchanged, version 1\n" ||
		status != 0 {
		t.Errorf("%d %q %q", status, out, messages)
	}
	if out, messages, status := r.run(document, "set", "--document", "-", "urn:nbn:fi:b"); !strings.HasPrefix(out,
		"urn:nbn:fi:b: registered, version 1\n") || status != 0 {
		t.Errorf("%d %q %q", status, out, messages)
	}
	for in, part := range map[string]string{
		`{"name":"urn:nbn:fi:a","note":"a","note":"b"}`: `duplicate JSON member "note"`,
		"{": "unexpected EOF", `{"name":"urn:nbn:fi:a","target":"x"}`: `unknown field "target"`,
		`{"name":"urn:nbn:fi:a","targets":[{"uri":"javascript:1"}]}`: "not allowed", "{}": "parsing",
		`{"name":"urn:nbn:fi:p","prefix":true}`: "must end with",
	} {
		if out, messages, status := r.run(in, "set", "--document", "-"); status != 2 ||
			!strings.Contains(messages, part) || out != "" {
			t.Errorf("%s: %d %q %q", in, status, out, messages)
		}
	}
}

// A usage error has the exit status 2, describes the error, and changes nothing.
func TestRegistryUsage(t *testing.T) {
	r := emptyRegistry(t)
	r.must("set urn:nbn:fi:a --target https://a.example/1")
	for line, part := range map[string]string{
		"get": "write urnd registry get NAME", "get urn:a": "NID",
		"get urn:nbn:fi: --prefix --at yesterday": "neither a date", "get urn:nbn:fi --prefix": "must end with",
		"get urn:isbn:0395363412": "check digit", "set": "the name is missing",
		"set urn:nbn:fi:b":                                                     "there is nothing to set",
		"set urn:nbn:fi:b --contact x":                                         "active name without a target",
		"set ietf:rfc:1 --target https://b.example/":                           "did you mean urn:ietf:rfc:1?",
		"set urn:nbn:fi:b --type text/html":                                    "requires a --target before it",
		"set urn:nbn:fi:b --target=":                                           "it is empty",
		"set urn:nbn:fi:b --target https://b.example/ --priority high":         `"high" is not a number`,
		"set urn:nbn:fi:b --target https://b.example/ --from 1.5.2031":         "neither a date",
		"set urn:nbn:fi:b --alias-of urn:nbn:fi:a --target https://b.example/": "mutually exclusive",
		"set urn:nbn:fi:b --reserve --activate":                                "mutually exclusive",
		"set urn:nbn:fi:b --target javascript:1":                               "not allowed",
		"set urn:nbn:fi:a --sandbox":                                           "add --prefix",
		"set urn:nbn:fi:a --document x --contact y":                            "be combined with other content flags",
		"set urn:nbn:fi:a --document /nowhere":                                 "no such file",
		"set urn:nbn:fi:a --contact x --if-version -3":                         "0 or more",
		"set urn:nbn:fi:a --metadata /nowhere":                                 "no such file",
		"set urn:nbn:fi:a urn:nbn:fi:b --contact x":                            "not allowed",
		"set a b c": "3 arguments are given", "list": "did you mean", "delete urn:nbn:fi:a": "purge or withdraw",
		"set urn:nbn:fi:b --metadata {\"a\":1,\"a\":2}": "duplicate JSON member", "help none": "unknown command",
		"withdraw urn:nbn:fi:a": "--reason is required", "withdraw --reason x": "write urnd registry withdraw NAME...",
		"withdraw urn:nbn:fi:a --reason x --successor urn:nbn:fi:a": "successor of itself",
		"supersede urn:nbn:fi:a --note x":                           "--by is required",
		"supersede urn:nbn:fi:a --by urn:nbn:fi:b":                  "--note is required",
		"supersede --by urn:nbn:fi:b --note x":                      "0 arguments are given",
		"history":                                                   "0 arguments are given",
		"search --status gone":                                      "invalid status", "search --limit -1": "0 or more",
		"search --title ?": "no word in", "search --alias-of urn:a": "alias_of",
		"search --prefix --alias-of urn:nbn:fi:a": "mutually exclusive",
		"purge": "write urnd registry purge PREFIX (--dry-run | --yes)", "purge urn:nbn:fi": "must end with",
		"check a b": "2 arguments are given", "stats x": "begins with a scheme", "test": "0 arguments are given",
		"test /nowhere":                 "no such file",
		"get urn:nbn:fi:a --everything": "unknown flag",
	} {
		if out, messages, status := r.run("", strings.Fields(line)...); status != 2 ||
			!strings.Contains(messages, part) || out != "" {
			t.Errorf("%s: %d %q %q", line, status, out, messages)
		}
	}
	if out, _, _ := r.run("", "history", "urn:nbn:fi:a"); strings.Count(out, "version") != 1 {
		t.Errorf("the history is %q", out)
	}
	none := registryAt{t, "sqlite:/nowhere/registry.db"}
	for _, line := range []string{
		"get urn:nbn:fi:a", "set urn:nbn:fi:a --contact x",
		"withdraw urn:nbn:fi:a --reason x", "supersede urn:nbn:fi:a --by urn:nbn:fi:b --note x", "history urn:nbn:fi:a",
		"search", "stats", "check", "purge urn:nbn:fi:",
	} {
		if out, messages, status := none.run("", strings.Fields(line)...); status != 1 ||
			!strings.Contains(messages, "/nowhere") || out != "" {
			t.Errorf("%s: %d %q %q", line, status, out, messages)
		}
	}
}

// A mistyped path does not create an empty registry.
func TestRegistryMustExist(t *testing.T) {
	directory := t.TempDir()
	names := filepath.Join(directory, "names.csv")
	if err := os.WriteFile(names, []byte("name,target\nurn:nbn:fi:a,https://a.example/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := registryAt{t, "sqlite:" + filepath.Join(directory, "registry.db")}
	for _, line := range []string{
		"get urn:nbn:fi:a", "history urn:nbn:fi:a", "search a", "stats", "check", "health", "verify", "export",
		"token list", "backup " + filepath.Join(directory, "b"), "withdraw urn:nbn:fi:a --reason r",
		"supersede urn:nbn:fi:a --by urn:nbn:fi:b --note n", "purge urn:nbn:fi:", "token revoke t",
	} {
		if _, messages, status := r.run("", strings.Fields(line)...); status != 1 ||
			!strings.Contains(messages, "no file "+directory) {
			t.Errorf("%s: %d %s", line, status, messages)
		}
	}
	if out, messages, status := r.run("", "import", "--dry-run", names); status != 0 ||
		!strings.Contains(out, "would be 1 new") {
		t.Errorf("dry run: %d %s%s", status, out, messages)
	}
	if made, err := os.ReadDir(directory); err != nil || len(made) != 1 {
		t.Errorf("made %v %v", made, err)
	}
	r.must("import "+names, "get urn:nbn:fi:a")
}

// A new target of a withdrawn name is not used, and the command says so.
func TestSetWithdrawn(t *testing.T) {
	r := emptyRegistry(t)
	r.must("set urn:nbn:fi:a --target https://a.example/1", "withdraw urn:nbn:fi:a --reason r")
	const message = "urn:nbn:fi:a is still withdrawn, without a target: --activate makes it"
	if _, messages, _ := r.run("", "set", "urn:nbn:fi:a", "--target",
		"https://a.example/2"); !strings.Contains(messages, message) {
		t.Errorf("%s", messages)
	}
	if _, messages, _ := r.run("", "set", "urn:nbn:fi:a", "--activate"); messages != "" {
		t.Errorf("%s", messages)
	}
}
