package plaintext_test

import (
	"testing"
	"time"

	"github.com/urnd/urnd/internal/plaintext"
)

// TestTimes checks that a date is its first or last moment, that a time is parsed, and that other texts are
// errors.
func TestTimes(t *testing.T) {
	const form = "2006-01-02T15:04:05.999Z07:00"
	for text, want := range map[string][3]string{ // results of ParseTime, ParseTimeEnd and ParseDay; "" is an error
		"2031-05-01":                {"2031-05-01T00:00:00Z", "2031-05-01T23:59:59.999Z", "2031-05-01T00:00:00Z"},
		" 2031-05-01 ":              {"2031-05-01T00:00:00Z", "2031-05-01T23:59:59.999Z", "2031-05-01T00:00:00Z"},
		"2031-05-01T10:00:00Z":      {"2031-05-01T10:00:00Z", "2031-05-01T10:00:00Z", ""},
		"2031-05-01T10:00:00+03:00": {"2031-05-01T07:00:00Z", "2031-05-01T07:00:00Z", ""},
		"1.5.2031":                  {}, "2031-02-30": {}, "": {}, "yesterday": {}, "2031-05-01T10:00": {},
	} {
		for i, parse := range []func(string) (time.Time, error){
			plaintext.ParseTime, plaintext.ParseTimeEnd,
			plaintext.ParseDay,
		} {
			at, err := parse(text)
			if got := at.Format(form); (err == nil) != (want[i] != "") || err == nil && got != want[i] {
				t.Errorf("%q by parser %d: %s, %v, want %q", text, i, got, err, want[i])
			}
		}
	}
}

// TestOneLine checks that line breaks, control characters and characters that change the text direction are
// escaped.
func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a b": "a b", "äöü 文": "äöü 文", "a\nb": `a\u000ab`, "\x1b[2J": `\u001b[2J`,
		"a\u202eb\u2066": `a\u202eb\u2066`, "\ufeff\u2028": `\ufeff\u2028`,
	} {
		if got := plaintext.OneLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
