package netguard

import "testing"

// TestAbsolute checks that the search list only applies to names of one label (RFC 1535).
func TestAbsolute(t *testing.T) {
	for host, want := range map[string]string{
		"a.example": "a.example.", "a.example.": "a.example.",
		"intranet": "intranet",
	} {
		if got := absolute(host); got != want {
			t.Errorf("%s: got %s, want %s", host, got, want)
		}
	}
}
