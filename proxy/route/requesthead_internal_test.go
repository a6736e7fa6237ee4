package route

import (
	"net/url"
	"testing"
)

// A text is decoded in reused memory exactly as by net/url.
func FuzzUnescape(f *testing.F) {
	for _, seed := range []string{
		"", "urn:a:b", "urn%3Aa%3ab", "%", "%4", "%41", "%zz", "a%4", "a%41%", "%00%ff+",
		"%+1", "% 1", "%25%32%35",
	} {
		f.Add(seed)
	}
	var room Scratch
	f.Fuzz(func(t *testing.T, text string) {
		want, err := url.PathUnescape(text)
		if err != nil {
			want = text
		}
		if got, own := room.unescape(text), (*Scratch)(nil).unescape(text); got != want || own != want {
			t.Errorf("%q: %q and %q instead of %q", text, got, own, want)
		}
	})
}

func TestUnescapeAllocatesNothing(t *testing.T) {
	var room Scratch
	room.unescape("urn%3Aietf%3Arfc%3A2648")
	if n := testing.AllocsPerRun(100, func() { room.unescape("urn%3Aietf%3Arfc%3A2648") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
