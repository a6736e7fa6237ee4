package http2_test

import (
	"bytes"
	"testing"

	"golang.org/x/net/http2/hpack"

	"github.com/urnd/urnd/internal/httpmessage"
)

// A client decodes fields with each name of the static table, and others: RFC 7541 appendix A.
func TestStaticNames(t *testing.T) {
	t.Parallel()
	var fields httpmessage.Fields
	decoder := hpack.NewDecoder(4096, nil)
	for index := byte(15); index <= 61; index++ { // after the pseudo-header fields
		block, err := decoder.DecodeFull([]byte{0x80 | index})
		if err != nil {
			t.Fatal(err)
		}
		switch name := block[0].Name; name {
		case "transfer-encoding", "content-length", "date": // they affect the framing
		default:
			fields.Add(name, name+string(bytes.Repeat([]byte{'~'}, int(index)*3)))
		}
	}
	c := serve(t, atOnce(func(_ *httpmessage.Incoming, w writer) { w.WriteHeader(206, "", fields) }), nil).open(t)
	a := c.receive(c.ask(true, get("/")...))
	if a.status != "206" || len(a.fields) != len(fields)+2 {
		t.Fatalf("%v", a)
	}
	for i, f := range fields {
		if a.fields[i] != f.Name+": "+f.Value {
			t.Errorf("%q for %q", a.fields[i], f)
		}
	}
}
