package registrytest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// dump returns the dump of a store.
func dump(t *testing.T, s registry.Store) string {
	t.Helper()
	var to bytes.Buffer
	if err := s.Dump(t.Context(), &to, epoch, func(registry.Seq, registry.Seq) {}); err != nil {
		t.Fatalf("dumping: %v", err)
	}
	return to.String()
}

func load(t *testing.T, s registry.Store, text string) error {
	t.Helper()
	return s.Load(t.Context(), strings.NewReader(text), func(registry.Seq, registry.Seq) {})
}

// fillDump is fill, with a name that was purged after one of its versions was redacted.
func fillDump(t *testing.T, s registry.Store) {
	t.Helper()
	fill(t, s)
	key := registry.Name("urn:example:trial")
	put(t, s, key, registry.Record{Contact: "somebody"})
	put(t, s, key, registry.Record{Contact: "others"})
	admin := registry.Actor{Name: "admin", Role: registry.Admin}
	if n, err := registryOf(s).Redact(t.Context(), admin, key, []int{1}, "asked for"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	purge(t, s, key)
}

// A dump loaded into an empty store yields the same content, and the same dump.
func testDump(t *testing.T, a, b registry.Store) {
	fillDump(t, a)
	write(t, a, func(tx registry.WriteTx) error {
		for table := range registry.TableMarks + 1 {
			if err := tx.Put(table, []registry.Document{
				{Key: "a <b>", Value: []byte(`{"a":"\u2028"}`)},
				{Key: "ä", Value: []byte("text\n")},
			}); err != nil {
				return err
			}
		}
		if err := tx.PutHealth(registry.Health{
			Name: "a", URI: "b", State: "suspect", Checked: epoch, Moved: "<c>",
			Detail: []byte("{}"),
		}); err != nil {
			return err
		}
		if err := errors.Join(tx.AddToken(tokenOf("1")), tx.SetMintCounter("a{counter}", 1<<64-1),
			tx.SetLease("a", registry.LeaseHolder{Until: epoch})); err != nil {
			return err
		}
		return tx.AddResolutions([]registry.ResolutionCount{
			resolved("", "2031-05-01", 4, 0),
			resolved("a <b>", "2030-04", 0, 1<<62),
		})
	})
	text := dump(t, a)
	if err := load(t, b, text); err != nil {
		t.Fatal(err)
	}
	if got := verified(t, b); got != "" {
		t.Errorf("what was loaded: %s", got)
	}
	if again := dump(t, b); again != text {
		t.Errorf("%s\nwas loaded, and dumped as\n%s", text, again)
	}
	for _, key := range []registry.Key{
		registry.Name("urn:example:a"), registry.Name("urn:example:alias"),
		registry.Prefix("urn:example:"),
	} {
		if is, was := lookup(t, b, key), lookup(t, a, key); !is.Equal(&was.Record) || is.Seq != was.Seq ||
			is.First != was.First {
			t.Errorf("%s is %+v, was %+v", key, is, was)
		}
	}
	put(t, b, registry.Name("urn:example:a"), registry.Record{Contact: "new"})
	if got := verified(t, b); got != "" {
		t.Errorf("after a change: %s", got)
	}
	if err := load(t, b, text); !errors.Is(err, registry.ErrConflict) {
		t.Errorf("loaded where there is something: %v", err)
	}
}

// A dump in which a line is missing, repeated or altered is rejected as a whole.
func testDamagedDump(t *testing.T, a, b registry.Store) {
	fillDump(t, a)
	lines := strings.SplitAfter(dump(t, a), "\n")
	lines = lines[:len(lines)-1] // without the empty element behind the last line feed
	refused := func(what string, i int, lines ...string) {
		t.Helper()
		if err := load(t, b, strings.Join(lines, "")); err == nil {
			t.Fatalf("line %d is %s, and it was loaded: %s", i+1, what, lines)
		}
		if head, err := b.Head(t.Context()); head != 0 || err != nil {
			t.Fatalf("line %d is %s, and the head is %d, %v", i+1, what, head, err)
		}
	}
	with := func(i int, text ...string) []string {
		return append(append(append([]string(nil), lines[:i]...), text...), lines[i+1:]...)
	}
	for i, line := range lines {
		refused("the end", i, lines[:i]...)
		refused("missing", i, with(i)...)
		refused("there twice", i, with(i, line, line)...)
		refused("cut off", i, with(i, line[:len(line)/2]+"\n")...)
		refused("of a newer format", i, with(i, strings.Replace(line, "{", `{"unknown":1,`, 1))...)
		for _, c := range [][2]string{
			{"urn:example", "urn:exbmple"},
			{`"by":"`, `"by":"x`},
			{`"note":"`, `"note":"x`},
			{`"time":"2`, `"time":"1`},
			{`"time":1`, `"time":2`},
			{`"changed":1`, `"changed":2`},
			{`"status":"active"`, `"status":"reserved"`},
			{`"digest":"`, `"digest":"AAAA`},
			{`"leaf":"`, `"leaf":"00`},
			{`"of":[`, `"of":[3,`},
			{`"lines":`, `"lines":1`},
			{`"uri":"`, `"uri":"x`},
			{`"salt":"`, `"salt":"AAAA`},
		} {
			if changed := strings.Replace(line, c[0], c[1], 1); changed != line && i > 0 {
				refused("changed: "+changed, i, with(i, changed)...)
			}
		}
	}
	if err := load(t, b, strings.Join(lines, "")); err != nil {
		t.Errorf("the undamaged one: %v", err)
	}
}
