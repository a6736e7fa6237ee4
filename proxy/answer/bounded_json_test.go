package answer

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzBoundedJSON checks that a decoder reads the same tokens, with long strings truncated.
func FuzzBoundedJSON(f *testing.F) {
	for _, seed := range []string{
		`["a", "b"]`, `"\u0061\"\\"`, `["` + strings.Repeat(`\"`, 40) + `", "x"]`,
		`"` + strings.Repeat(`\u00e9`, 20) + `"`, `"` + strings.Repeat("a",
			23) + `\u0061bc"`,
		`"\`, `"\u12"`, `{"a":[1,"b"]}`, strings.Repeat("9", 65), `"\\\\\\\\\\\\\\\\\\\\\\\\\\"`,
	} {
		f.Add(seed, 4)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 0 || limit > 100 {
			return
		}
		most := escaped * (limit + 1)
		kept, err := io.ReadAll(iotest.OneByteReader(&boundedJSON{from: strings.NewReader(text), most: most}))
		if err != nil {
			return // a literal that no valid batch has
		}
		whole, cut := tokens(text), tokens(string(kept))
		if len(cut) < len(whole) { // it may have more, since an error may be cut off
			t.Fatalf("%q has %d tokens, and %q %d", text, len(whole), kept, len(cut))
		}
		for i := range whole {
			a, isString := whole[i].(string)
			b, _ := cut[i].(string)
			if whole[i] != cut[i] && (!isString || len(a) <= limit || len(b) <= limit) {
				t.Fatalf("%q: %v becomes %v", text, whole[i], cut[i])
			}
		}
	})
}

// tokens returns the tokens before the first error.
func tokens(text string) (all []json.Token) {
	decoder := json.NewDecoder(strings.NewReader(text))
	for {
		token, err := decoder.Token()
		if err != nil {
			return all
		}
		all = append(all, token)
	}
}
