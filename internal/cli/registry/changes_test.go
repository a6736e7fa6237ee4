package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An import is a change set, and can be reverted.
func TestChangesAndRevert(t *testing.T) {
	r := emptyRegistry(t)
	r.must("set urn:nbn:fi:a --target https://old.example/a --note first")
	file := filepath.Join(t.TempDir(), "names.csv")
	table := "name,target,if_version\nurn:nbn:fi:a,https://new.example/a,1\nurn:nbn:fi:b,https://new.example/b,\n"
	if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, messages, status := r.run("", "import", file, "--note", "wrong file"); status != 0 {
		t.Fatalf("importing: %s", messages)
	}
	for _, s := range []step{
		{
			args: words("changes"),
			out:  "1, TIME: change, 1 version, by USER: first\n2, TIME: import, 2 versions, by USER: wrong file\n",
		},
		{args: words("changes --by nobody"), out: ""},
		{args: words("changes --since 2999-01-01"), out: ""},
		{args: words("changes --prefix urn:nbn:fi:b"), out: "2, TIME: import, 2 versions, by USER: wrong file\n"},
		{args: words("changes --set 3"), part: "no change set 3", status: 1},
		{
			args: words("changes --set 2"),
			out: "urn:nbn:fi:a: version 2\n  - target https://old.example/a\n  + target https://new.example/a\n" +
				"urn:nbn:fi:b: registered, version 1\n  + target https://new.example/b\n",
		},
		{args: words("revert 2"), part: "--note is required", status: 2},
		{args: words("revert x --note y"), part: "is not the number of a change set", status: 2},
		{
			args: words("revert 2 --dry-run --note mistake"),
			out: "urn:nbn:fi:a: version 3\n  - target https://new.example/a\n  + target https://old.example/a\n" +
				"urn:nbn:fi:b: version 2\n  status: active -> withdrawn\n  + reason mistake\n2 names differ: 1 " +
				"changed, 1 withdrawn\n",
			part: "2 would be reverted\n",
		},
		{args: words("set urn:nbn:fi:b --contact x"), out: "urn:nbn:fi:b: version 2\n  + contact x\n"},
		{
			args: words("revert 2 --note mistake"),
			out:  "urn:nbn:fi:a: version 3\n  - target https://new.example/a\n  + target https://old.example/a\n",
			part: "1 reverted, and 1 not: see above, by the change set 5\n", status: 1,
		},
		{
			args: words("redact urn:nbn:fi:a --version 2 --reason secret"), out: "urn:nbn:fi:a: 1 version redacted\n",
		},
		{args: words("redact urn:nbn:fi:a --version 3 --reason secret"), part: "is current", status: 1},
		{args: words("verify"), out: "no problem was found\n"},
	} {
		out, messages, status := r.run(s.in, s.args...)
		if status != s.status || s.out != without(out) && s.out != "" || !strings.Contains(messages, s.part) {
			t.Errorf("%s: status %d\n%s%s", strings.Join(s.args, " "), status, without(out), messages)
		}
	}
	history, _, _ := r.run("", "history", "urn:nbn:fi:a")
	if strings.Contains(history, "new.example") || !strings.Contains(history, "redacted") {
		t.Errorf("the history after a redaction:\n%s", history)
	}
}

func TestHead(t *testing.T) {
	r := emptyRegistry(t)
	r.must("set urn:nbn:fi:a --target https://a.example/", "set urn:nbn:fi:b --target https://b.example/")
	head, _, _ := r.run("", "head")
	size, root, _ := strings.Cut(strings.TrimSpace(head), " ")
	if size != "2" || len(root) != 64 {
		t.Errorf("the head is %q", head)
	}
	r.must("set urn:nbn:fi:c --target https://c.example/")
	for _, c := range []struct {
		head, out, part string
		status          int
	}{
		{
			strings.TrimSpace(head), "no problem was found\nthe head is that of number 2, after which there are 1 more\n",
			"", 0,
		},
		{root, "no problem was found\nthe head is that of number 2, after which there are 1 more\n", "", 0},
		{
			strings.Repeat("0", 64),
			"no problem was found\nthe head " + strings.Repeat("0", 64) + " is not in this history", "", 1,
		},
		{"x", "", "does not have 64 hexadecimal digits", 2},
	} {
		out, messages, status := r.run("", "verify", "--head", c.head)
		if status != c.status || !strings.HasPrefix(out, c.out) || !strings.Contains(messages, c.part) {
			t.Errorf("verify --head %q: %d %s%s", c.head, status, out, messages)
		}
	}
}

// A purge is a change set with its reason. The change sets whose names it removed are still listed, with
// their authors.
func TestChangesOfPurge(t *testing.T) {
	r := emptyRegistry(t)
	r.must("set urn:nbn:fi:test: --prefix --sandbox")
	r.must("set urn:nbn:fi:test:1 --reserve --note try")
	for _, s := range []step{
		{
			args: []string{"purge", "urn:nbn:fi:test:", "--yes", "--note", "it is over"},
			out:  "urn:nbn:fi:test:*: 2 removed\n",
		},
		{
			args: words("changes --prefix URN:NBN:fi:test:"),
			out:  "3, TIME: purge, 2 versions, by USER: it is over\n",
		},
		{
			args: words("changes"),
			out: "1, TIME: change, 1 version, by USER\n2, TIME: change, 1 version, by USER: try\n3, TIME: purge, 2 " +
				"versions, by USER: it is over\n",
		},
		{args: words("verify"), out: "no problem was found\n"},
	} {
		out, messages, status := r.run(s.in, s.args...)
		if status != s.status || s.out != without(out) && s.out != "" || !strings.Contains(messages, s.part) {
			t.Errorf("%s: status %d\n%s%s", strings.Join(s.args, " "), status, without(out), messages)
		}
	}
}
