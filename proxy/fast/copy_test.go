package fast

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// A copy of a request is the same when the octets of that were used again, also where it was another request before.
func TestCopyTo(t *testing.T) {
	var to Request
	for _, text := range []string{
		"GET http://a.example/b?c HTTP/1.1\r\nHost: a.example\r\nUser-Agent: a b\r\nX-Odd: 1\r\nx-even: \r\nACCEPT: */*\r\nConnection: close\r\n\r\n",
		"HEAD /urn:a:b HTTP/1.1\r\nhost:  a.example:80 \r\nReferer: http://b/ \r\n\r\nGET /next",
		"GET /" + strings.Repeat("x", 3000) + " HTTP/1.1\r\nHost: a\r\n\r\n",
	} {
		var of, want Request
		octets := []byte(text)
		if reason := of.Parse(octets); reason != "" {
			t.Fatal(reason)
		}
		if !of.Begins([]byte(text)) || of.Begins([]byte(text[1:])) || of.Begins([]byte(text)[:of.Size-1]) {
			t.Errorf("Begins of %.40q", text)
		}
		copied := of.CopyTo(&to)
		if got, all := copied.Lasting(of.Target), copied.Lasting(of.Target+"?"); got != of.Target || all != of.Target+"?" || copied.Lasting("") != "" {
			t.Errorf("%q and %q of %q", got, all, of.Target)
		}
		of = Request{}
		clear(octets)
		want.Parse([]byte(text))
		if !reflect.DeepEqual(to, want) {
			t.Errorf("%+v\n%+v", to, want)
		}
	}
	octets := bytes.Repeat([]byte("x"), 8)
	if text := (Copy{"", "x"}).Of(string(octets)); text != "xxxxxxxx" {
		t.Errorf("a text of other memory is %q", text)
	}
}
