package answer_test

import (
	"encoding/json"
	"testing"
)

// I=I: RFC 2483 section 4.9.
func TestSame(t *testing.T) {
	s := start(t, nil)
	for pair, want := range map[string]string{
		"urn:isbn:0-395-36341-1%20URN:ISBN:0395363411":    "TRUE\r\n",
		"urn:isbn:0-395-36341-1%20urn:isbn:9780395363416": "TRUE\r\n",
		"http://A.example%20http://a.example:80/":         "TRUE\r\n",
		"urn:example:a%20urn:example:A":                   "FALSE\r\n",
		"urn:example:a%20b%20urn:example:a%20b":           "TRUE\r\n",
		"urn:example:a?=q%20http://example.org/a":         "FALSE\r\n",
	} {
		if response := s.get(t, "/uri-res/I=I?"+pair, "Accept: */*"); response.StatusCode != 200 ||
			text(t, response) != want {
			t.Errorf("%s: %d", pair, response.StatusCode)
		}
	}
	var document struct {
		Same, Equivalent bool
		Rung, Reason     string
	}
	body := text(t, s.get(t, "/uri-res/i=i?urn:isbn:0-395-36341-1%20urn:isbn:9780395363416",
		"Accept: application/json"))
	if err := json.Unmarshal([]byte(body),
		&document); err != nil || !document.Same || document.Equivalent || document.Rung != "functional" ||
		document.Reason == "" {
		t.Errorf("%s, %v", body, err)
	}
	if response := s.get(t, "/?uri=urn:example:a&service=I=I"); response.StatusCode != 400 {
		t.Errorf("one of two: %d", response.StatusCode)
	}
	for _, bad := range []string{"urn:example:a", "urn:example:a%20b", "urn:isbn:1%20urn:isbn:1", ""} {
		if response := s.get(t, "/uri-res/I=I?"+bad); response.StatusCode != 400 {
			t.Errorf("%q: %d", bad, response.StatusCode)
		}
	}
}
