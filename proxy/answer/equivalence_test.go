package answer_test

import (
	"encoding/json"
	"testing"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/urnns"
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

// The second identifier, too, may have another spelling than that of its name.
func TestSameSpelling(t *testing.T) {
	table, err := urnns.NewIdentifiers(urnns.BuiltinIdentifiers()...)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, func(c *answer.Config) { c.Names.Identifiers = table })
	for pair, want := range map[string]string{
		"doi:10.1000/1%20doi:10.1000/1":                      "TRUE\r\n",
		"urn:doi:10.1000/1%20https://doi.org/10.1000/1":      "TRUE\r\n",
		"hdl:20.500.1/a%20https://hdl.handle.net/20.500.1/a": "TRUE\r\n",
		"doi:10.1000/1%20doi:10.1000/2":                      "FALSE\r\n",
	} {
		if got := text(t, s.get(t, "/uri-res/I=I?"+pair, "Accept: text/plain")); got != want {
			t.Errorf("%s: %q, want %q", pair, got, want)
		}
	}
}
