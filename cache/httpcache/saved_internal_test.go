package httpcache

import (
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestSavedBefore: a head that was saved before the order of fields was kept is read, and saved again as it is now.
func TestSavedBefore(t *testing.T) {
	const head = `{"Status":200,"Reason":"OK","Header":{"Cache-Control":["max-age=60, no-cache=\"X-B\""],"Content-Type":["text/plain"],` +
		`"Date":["Sun, 22 Nov 2026 08:00:00 GMT"],"Etag":["\"1\""],"Last-Modified":["Sat, 21 Nov 2026 08:00:00 GMT"],"Link":["a","b"],"X-B":["1"]},` +
		`"Selectors":[["Accept-Language","de"]],"Received":"2026-11-22T08:00:00Z","InitialAge":0,"Lifetime":60000000000,"Explicit":true,` +
		`"Directives":{"NoCache":false,"MustRevalidate":false,"Immutable":false,"WhileRevalidate":0,"IfError":-1},"ValidatedOnly":["X-B"],` +
		`"From":"192.0.2.1:80","Basis":"b"}`
	want := httpmessage.FieldsOf("Cache-Control", `max-age=60, no-cache="X-B"`, "Content-Type", "text/plain", "Date", "Sun, 22 Nov 2026 08:00:00 GMT",
		"Etag", `"1"`, "Last-Modified", "Sat, 21 Nov 2026 08:00:00 GMT", "Link", "a", "Link", "b", "X-B", "1")
	text := []byte(head)
	for range 2 {
		s := storedOfHead(text)
		if s == nil {
			t.Fatalf("%s is not read", text)
		}
		if !slices.Equal(s.header, want) || s.etag != `"1"` || s.modified == 0 || s.date == 0 || s.lifetime != time.Minute || s.basis != "b" {
			t.Errorf("%s is %+v", text, s.record)
		}
		if shown := s.fields(false); shown.Has("X-B") || !shown.Has("Link") {
			t.Errorf("without a validation: %v", shown)
		}
		var err error
		if text, err = s.head(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSavedOrder: the order and the spelling of fields are saved.
func TestSavedOrder(t *testing.T) {
	fields := httpmessage.FieldsOf("x-b", "1", "DATE", "Sun, 22 Nov 2026 08:00:00 GMT", "X-A", "", "X-b", "2", "eTag", `"1"`)
	c := New(Config{Now: time.Now})
	defer c.Close()
	made := c.storedResponse(&Request{}, &httpmessage.Response{Status: 200, Fields: fields}, arrival{time.Now(), time.Now()})
	text, err := made.head()
	if err != nil {
		t.Fatal(err)
	}
	if s := storedOfHead(text); s == nil || !slices.Equal(s.header, fields) || s.etag != `"1"` {
		t.Errorf("%s is read as %+v", text, s)
	}
}
