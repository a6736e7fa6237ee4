package registry

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/tabular"
)

// someNames returns a registry with names of each kind.
func someNames(t *testing.T) registryAt {
	r := emptyRegistry(t)
	r.must(
		"set urn:nbn:fi:a1 --target https://old.example/1",
		"set urn:nbn:fi:a2 --target https://new.example/2 --target https://Old.example/x --title Kalevala",
		"set urn:nbn:fi:b1 --target https://new.example/3",
		"set urn:nbn:fi:b2 --reserve",
		"set urn:isbn:0395363411 --alias-of urn:nbn:fi:a1",
		"set urn:isbn:9780306406157 --alias-of urn:nbn:fi:a1",
		"supersede urn:nbn:fi:b1 --by urn:nbn:fi:a1 --note x",
		"set urn:nbn:fi:test: --prefix --sandbox",
		"set urn:nbn:fi:test:1 --target https://old.example/t",
	)
	return r
}

func TestRegistrySearch(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	r := someNames(t)
	const (
		a1    = "urn:nbn:fi:a1\tactive\thttps://old.example/1\n"
		a2    = "urn:nbn:fi:a2\tactive\thttps://new.example/2 https://Old.example/x\n"
		b1    = "urn:nbn:fi:b1\twithdrawn\turn:nbn:fi:a1\n"
		b2    = "urn:nbn:fi:b2\treserved\t\n"
		book  = "urn:isbn:0395363411\tactive\turn:nbn:fi:a1\n"
		other = "urn:isbn:9780306406157\tactive\turn:nbn:fi:a1\n"
		test1 = "urn:nbn:fi:test:1\tactive\thttps://old.example/t\n"
		none  = "nothing was found"
	)
	for _, c := range []struct{ args, out, part string }{
		{"", book + other + a1 + a2 + b1 + b2 + test1, ""},
		{"OLD.example", a1 + a2 + test1, ""},
		{"fi:A", a1 + a2, ""},
		{"--target fi:A", "", none},
		{"--target //old.example --below URN:NBN:fi:a", a1 + a2, ""},
		{"--below urn:nbn:fi:b", b1 + b2, ""},
		{"--below urn:isbn:", book + other, ""},
		{"--below u", book + other + a1 + a2 + b1 + b2 + test1, ""},
		{"--status withdrawn,reserved", b1 + b2, ""},
		{"--status WITHDRAWN --target new", b1, ""},
		{"--title KALE", a2, ""},
		{"--title kalevala --below urn:nbn:fi:a1", "", none},
		{"--alias-of URN:NBN:fi:a1", book + other, ""},
		{"--alias-of urn:nbn:fi:a1 --below urn:isbn:0", book, ""},
		{"--alias-of urn:nbn:fi:a1 --after urn:isbn:0395363411", other, ""},
		{"--alias-of urn:nbn:fi:a2", "", none},
		{"--prefix", "urn:nbn:fi:test:*\tactive\t\n", ""},
		{"--below urn:nbn: --limit 2", a1 + a2, "there may be more than 2: go on with --after 'urn:nbn:fi:a2'"},
		{"--below urn:nbn: --after urn:nbn:fi:a2 --limit 0", b1 + b2 + test1, ""},
	} {
		out, messages, status := r.run("", append([]string{"search"}, strings.Fields(c.args)...)...)
		if out != c.out || !strings.Contains(messages, c.part) || c.part == "" && messages != "" || status != 0 {
			t.Errorf("%s: %d\n%s%s\nwant\n%s%s", c.args, status, out, messages, c.out, c.part)
		}
	}
	out, _, _ := r.run("", "search", "--below", "urn:nbn:fi:a", "--output=json")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 2 || !json.Valid([]byte(lines[0])) ||
		!strings.HasPrefix(lines[1], `{"name":"urn:nbn:fi:a2","status":"active"`) {
		t.Errorf("as JSON: %s", out)
	}
}

func TestRegistryStats(t *testing.T) {
	r := someNames(t)
	out, messages, status := r.run("", "stats", "--output=json")
	var s registryStats
	if err := json.Unmarshal([]byte(out), &s); err != nil || status != 0 || messages != "" {
		t.Fatalf("%d %s %s %v", status, out, messages, err)
	}
	nbn, all := s.Groups["urn:nbn"], s.Total
	if nbn.Active != 3 || nbn.Reserved != 1 || nbn.Withdrawn != 1 || nbn.Prefixes != 1 || all.Active != 5 ||
		all.Aliases != 2 || all.Targets != 5 || s.Seq != 9 || s.Size < 4096 || s.Store != r.store {
		t.Errorf("the statistics are %s", out)
	}
	out, _, _ = r.run("", "stats")
	for _, line := range []string{
		"versions: the last one has the number 9\n", "  active  reserved  withdrawn",
		"       3         1          1        0        5         1  urn:nbn:\n",
		"       5         1          1        2        5         1  all\n",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("%q is not in\n%s", line, out)
		}
	}
}

func TestRegistryPurge(t *testing.T) {
	r := someNames(t)
	for _, s := range []step{
		{
			args: words("purge urn:nbn:fi:"),
			out:  "urn:nbn:fi:*: 2 would be removed, and 4 kept, which are in no sandbox\n", part: "add --yes",
			status: 2,
		},
		{args: words("purge urn:nbn:fi: --yes"), out: "urn:nbn:fi:*: 2 removed\n"},
		{
			args: words("purge urn:nbn:fi:"),
			out:  "urn:nbn:fi:*: 0 would be removed, and 4 kept, which are in no sandbox\n",
		},
		{args: words("get urn:nbn:fi:test:1"), part: "not registered", status: 1},
	} {
		out, messages, status := r.run("", s.args...)
		if out != s.out || !strings.Contains(messages, s.part) || status != s.status {
			t.Errorf("%q: %d %q %q", s.args, status, out, messages)
		}
	}
}

func TestRegistryCheck(t *testing.T) {
	r := someNames(t)
	r.must("set urn:nbn:fi:a1 --target https://LOCALHOST/urn:nbn:fi:a2",
		"set urn:nbn:fi:c --target https://urn.example.org/urn:nbn:fi:c")
	for _, s := range []step{
		{
			args: words("check urn:nbn:fi:a"), part: "checked 2 names and prefixes: errors 0, warnings 3, hints 0\n",
			out: "urn:nbn:fi:a1: warning: the target https://LOCALHOST/urn:nbn:fi:a2 is not normalized: " +
				"https://localhost/urn:nbn:fi:a2 (target-normal)\n" +
				"urn:nbn:fi:a1: warning: the target https://LOCALHOST/urn:nbn:fi:a2 resolves to the name " +
				"urn:nbn:fi:a2 through this urnd: use its targets, or make it an alias (chain)\n" +
				"urn:nbn:fi:a2: warning: the target https://Old.example/x is not normalized: https://old.example/x " +
				"(target-normal)\n",
		},
		{args: words("check urn:nbn:fi:c"), part: "errors 0"},
		{
			args: words("check urn:nbn:fi:c --own urn.EXAMPLE.org --output json"), part: "errors 1",
			out: `{"name":"urn:nbn:fi:c","severity":"error","what":"resolves to itself through this urnd","rule":"loop"}` + "\n", status: 1,
		},
		{args: words("check urn:nbn:fi:test:"), part: "checked 2 names and prefixes"},
		{args: words("check urn:nbn:fi:test: --hints --output json"), part: "hints 0"},
	} {
		out, messages, status := r.run("", s.args...)
		if out != s.out || !strings.Contains(messages, s.part) || status != s.status {
			t.Errorf("%q: %d\n%s%s\nwant\n%s%s", s.args, status, out, messages, s.out, s.part)
		}
	}
}

func TestRegistryTest(t *testing.T) {
	r := someNames(t)
	good := "\ufeffLocation, Name " +
		",status,remark\nhttps://old.example/1,URN:NBN:fi:a1,,x\nhttps://old.example/1,urn:isbn:0-395-36341-1,302\n,urn:nbn:fi:a2\n\n# withdrawn\n,urn:nbn:fi:b1,410\n,urn:nbn:fi:b1,Withdrawn\n,urn:nbn:fi:b2,reserved\n,urn:nbn:fi:b2,404\n"
	file := filepath.Join(t.TempDir(), "expectations.csv")
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []step{
		{args: words("test " + file), part: "tested 7 names: 7 as expected, 0 not"},
		{args: words("test -"), in: `{"name":"urn:nbn:fi:a1","location":"https://old.example/1"}` + "\n" +
			`{"name":"urn:nbn:fi:b1","status":410}`, part: "2 as expected, 0 not"},
		{
			args: words("test -"), status: 1, part: "tested 8 names: 0 as expected, 8 not",
			in: "urn:nbn:fi:a1,https://old.example/2\nurn:nbn:fi:b1,https://new.example/3\nurn:nbn:fi:a1,,410\nurn:a,x\nurn:nbn:fi:a1,,gone\n,x\n{]\nurn:nbn:fi:b1,https://x/,410",
			out: "line 1: urn:nbn:fi:a1\n  - active https://old.example/2\n  + active https://old.example/1\n" +
				"line 2: urn:nbn:fi:b1\n  - active https://new.example/3\n  + withdrawn\n    name is gone: the name " +
				"was withdrawn on DAY\n" +
				"line 3: urn:nbn:fi:a1\n  - withdrawn\n  + active https://old.example/1\n" +
				"line 4: urn:a\n  - active x\n  + failed\n    parsing \"urn:a\": offset 5: NID: a colon and an NSS " +
				"follow the NID: \"urn:\" NID \":\" NSS (RFC 8141 section 2.1)\n" +
				"line 5: \"gone\" is not a status: use active, withdrawn, missing, reserved, failed or an HTTP " +
				"status\n" +
				"line 6: the name is missing\n" +
				"line 7: it is not a JSON object with a name: invalid character ']' looking for beginning of object " +
				"key string\n" +
				"line 8: a name that is withdrawn has no location\n",
		},
		{args: words("test -"), part: "tested 0 names"},
		{
			args: words("test -"), in: "{" + strings.Repeat("x", tabular.MaxRecord),
			out: "line 1: it has more than 1048576 bytes\n", status: 1,
		},
	} {
		out, messages, status := r.run(s.in, s.args...)
		if out = aDay.ReplaceAllString(out, "DAY"); out != s.out || !strings.Contains(messages, s.part) ||
			status != s.status {
			t.Errorf("%q: %d\n%s%s\nwant %d\n%s%s", s.args, status, out, messages, s.status, s.out, s.part)
		}
	}
}

// More names than fit into the concurrent window keep their order.
func TestRegistryTestMany(t *testing.T) {
	r := someNames(t)
	in := strings.Repeat("urn:nbn:fi:a1,https://old.example/1\n", 256) + "urn:nbn:fi:a1,https://a.example/\n" +
		strings.Repeat("urn:nbn:fi:b2,,404\n", 256)
	out, messages, status := r.run(in, "test", "-")
	if status != 1 || !strings.HasPrefix(out, "line 257: ") || strings.Count(out, "line") != 1 ||
		!strings.Contains(messages, "tested 513 names: 512 as expected, 1 not") {
		t.Errorf("%d %q %q", status, out, messages)
	}
}

// FuzzExpectations checks that any text is read line by line to its end, and that each expectation has a name
// or an error.
func FuzzExpectations(f *testing.F) {
	for _, seed := range []string{
		"name,location\nurn:a:b,https://a/\n", "{\"name\":\"a:b\",\"status\":404}\n",
		"\ufeffa,b,c,d\n\"", "# x\n\n,,\n", "a:b,,299",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in, err := newExpectations(strings.NewReader(text), charset.Encoding{})
		if err != nil {
			return // it is UTF-32
		}
		last := int64(0)
		for {
			e, err := in.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				if len(text) < tabular.MaxRecord {
					t.Fatalf("%q: %v", text, err)
				}
				return
			}
			if e.line <= last || e.failure == nil && (e.name == "" || e.status == "") {
				t.Fatalf("%q was read as %+v after line %d", text, e, last)
			}
			last = e.line
		}
	})
}
