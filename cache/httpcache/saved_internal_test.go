package httpcache

import (
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestSavedOrder: the order and the spelling of fields are saved.
func TestSavedOrder(t *testing.T) {
	fields := httpmessage.FieldsOf("x-b", "1", "DATE", "Sun, 22 Nov 2026 08:00:00 GMT", "X-A", "", "X-b", "\xff", "eTag", `"1"`)
	known, _ := newResponse("", nil, &httpmessage.Response{Status: 200, Fields: fields}, control{}, Heuristic{}, arrival{time.Now(), time.Now()})
	text := (&stored{record: record{response: known}}).head()
	if s := storedOfHead(text); s == nil || !slices.Equal(s.header, fields) || s.etag != `"1"` {
		t.Errorf("%q is read as %+v", text, s)
	}
}

// FuzzSavedHead: what is read of a head is saved as it was, and no octets make it fail otherwise.
func FuzzSavedHead(f *testing.F) {
	whole := savedHead{
		Status: 200, Reason: "OK", Spelling: "/%62", Fields: [][2]string{{"x-b", "1"}, {"eTag", `"1"`}, {"", ""}}, Selectors: [][2]string{{"Accept", "a"}},
		Received: time.Unix(1_900_000_000, 123), InitialAge: time.Second, Lifetime: -1, Explicit: true, Purged: true, Basis: "b",
		Directives:    savedDirectives{true, true, true, time.Hour, -1},
		ValidatedOnly: []string{"X-B"}, From: netip.MustParseAddrPort("[fe80::1%eth0]:80"),
	}
	f.Add(whole.append(nil))
	f.Add((&savedHead{Status: 200}).append(nil))
	f.Add([]byte(`{"Status":200}`))
	f.Fuzz(func(t *testing.T, octets []byte) {
		var h, again savedHead
		if !h.parse(octets) {
			return
		}
		if saved := h.append(nil); !again.parse(saved) || !reflect.DeepEqual(h, again) {
			t.Errorf("%q is %+v, and again %+v", octets, h, again)
		}
	})
}

// TestSavedWhole: all that a head has is read as it was saved, and reading it costs little.
func TestSavedWhole(t *testing.T) {
	want := savedHead{
		Status: 404, Reason: "No", Spelling: "/%62", Fields: [][2]string{{"x-b", "1"}, {"eTag", `"1"`}}, Selectors: [][2]string{{"Accept", "a"}},
		Received: time.Unix(1_900_000_000, 123), InitialAge: time.Second, Lifetime: time.Hour, Explicit: true, Purged: true, Basis: "b",
		Directives:    savedDirectives{NoCache: true, Immutable: true, WhileRevalidate: time.Hour, IfError: -1},
		ValidatedOnly: []string{"X-B"}, From: netip.MustParseAddrPort("192.0.2.1:80"),
	}
	text := want.append(nil)
	var got savedHead
	if !got.parse(text) || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for i := range text {
		if new(savedHead).parse(text[:i]) {
			t.Errorf("%d of %d octets are read", i, len(text))
		}
	}
	if n := testing.AllocsPerRun(100, func() { storedOfHead(text) }); n > 20 {
		t.Errorf("%v allocations", n)
	}
}
