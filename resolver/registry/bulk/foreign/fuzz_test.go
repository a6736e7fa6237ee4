package foreign

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/uri"
)

// FuzzRawIdentifiers checks that the name of any raw identifier is a URI whose decoded path is the
// identifier.
func FuzzRawIdentifiers(f *testing.F) {
	for _, id := range []string{"1.2/a#b", "50%off", "10.1002/(SICI)1:1<1::AID>3.0.CO;2-#", "a%20b", "\xff\x00", "é"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if id == "" || strings.HasPrefix(id, "//") || len(id) > 2000 {
			return // an authority, or too long
		}
		i := newItem(1, "")
		i.named("hdl:", id)
		u, err := uri.Parse(i.Entry.Name)
		if err != nil {
			t.Fatalf("%q is %q: %v", id, i.Entry.Name, err)
		}
		if _, ok := u.Query(); ok || u.WithoutFragment() != u {
			t.Errorf("%q is %q, which has a query or a fragment", id, i.Entry.Name)
		}
		if raw, err := url.PathUnescape(strings.TrimPrefix(i.Entry.Name, "hdl:")); err != nil || raw != id {
			t.Errorf("%q is %q, which means %q, %v", id, i.Entry.Name, raw, err)
		}
		path := escapedURIPath(id)
		if u, err := uri.Parse("ark:" + path); err != nil || escapedURIPath(path) != path {
			t.Errorf("%q is the path %q of %v, %v", id, path, u, err)
		}
	})
}

// FuzzANVL checks that values encoded like those of EZID are decoded to the original.
func FuzzANVL(f *testing.F) {
	f.Add("a:b%", "c%20\r\nd", "e")
	f.Add("erc.who", "100 % # sure", " x ")
	f.Fuzz(func(t *testing.T, label, a, b string) {
		label, a, b = strings.TrimSpace(label), strings.TrimSpace(a), strings.TrimSpace(b)
		own := strings.HasPrefix(label, "_") || strings.HasPrefix(label, "#") || strings.HasPrefix(label, ":")
		if label == "" || own || a == "" || len(a)+len(b) > 1000 || !utf8.ValidString(label+a+b) ||
			!utf8.ValidString(label) || !utf8.ValidString(a) {
			return
		}
		switch strings.ToLower(label) {
		case "goto", "target", "location", "locations", "url", "circ", "hold", "pepper":
			return
		}
		value := strings.NewReplacer("%", "%25", "\n", "%0A", "\r", "%0D")
		text := ":: ark:/1/x\n_target: https://a.example/\n" + strings.ReplaceAll(value.Replace(label), ":", "%3A") +
			": " + value.Replace(a) + "\n"
		want := a
		if b != "" {
			text += "\t" + value.Replace(b) + "\n"
			want += " " + b
		}
		source, err := charset.Encoding{}.NewSource(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		next, err := NOID(&Input{Source: source}, "")
		if err != nil {
			t.Fatal(err)
		}
		i, err := next()
		if err != nil {
			t.Fatal(err)
		}
		i.finish()
		if got := i.metadata[label]; i.Err != nil || got != want || len(i.Unmapped) > 0 {
			t.Errorf("%q is read as %q, want %q; %v", text, got, want, i.Err)
		}
	})
}
