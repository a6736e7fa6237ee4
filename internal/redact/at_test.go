package redact

import "testing"

// FuzzHasAt compares hasAt with the regular expression at.
func FuzzHasAt(f *testing.F) {
	for _, text := range []string{
		"", "a", "@", "a@b", "%40", "%2540", "%252540", "%25%40", "%2525", "%254", "%2%540",
		"a%3Ab%20c", "%%40", "%25 40",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := hasAt(text), at.MatchString(text); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	})
}

func TestRedactAvoidsCopy(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		_ = URLs("/urn:ietf:rfc:2648")
		_ = URLs("/?uri=urn%3Aietf%3Arfc%3A2648&x=%2520")
		_ = URLs("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
