package httpcache

import (
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// TestHeadOrder: the order and the case of field names are stored.
func TestHeadOrder(t *testing.T) {
	fields := httpmessage.NewFields("x-b", "1", "DATE", "Sun, 22 Nov 2026 08:00:00 GMT", "X-A", "", "X-b", "\xff",
		"eTag", `"1"`)
	got, at := &httpmessage.Response{Status: 200, Fields: fields},
		rules.Arrival{Requested: time.Now(), Received: time.Now()}
	known, _ := rules.NewResponse("", nil, got, rules.Control{}, rules.Heuristic{}, at)
	text := (&stored{Response: known}).head()
	if s := parseHead(text); s == nil || !slices.Equal(s.Fields, fields) || s.ETag != `"1"` {
		t.Errorf("%q is read as %+v", text, s)
	}
}

// full returns a stored response that sets everything that a head can have.
func full() *stored {
	s := &stored{uses: new(uses), basis: "b", Response: rules.Response{
		Status: 404, Reason: "No", Spelling: "/%62", Selectors: []rules.Selector{{Name: "Accept", Value: "a"}},
		Received: time.Unix(1_900_000_000, 123), InitialAge: time.Second, Purged: true, SetsCookies: true,
		Freshness: rules.Freshness{Lifetime: time.Hour, Explicit: true, Source: rules.SourceOverride},
		Directives: rules.Directives{
			NoCache: true, MustRevalidate: true, Immutable: true,
			WhileRevalidate: time.Hour, IfError: -1,
		},
		ValidatedOnly: rules.ValidatedOnly([]string{"X-B"}), ServerAddr: netip.MustParseAddrPort("[fe80::1%eth0]:80"),
	}}
	const date = "Sun, 22 Nov 2026 08:00:00 GMT"
	s.SetFields(httpmessage.NewFields("x-b", "1", "eTag", `"1"`, "", "", "Date", date, "Last-Modified", date))
	s.Date = s.Modified
	return s
}

// FuzzHead: a parsed head is serialized to the same bytes, and arbitrary bytes cause no panic.
func FuzzHead(f *testing.F) {
	f.Add(full().head())
	f.Add((&stored{Response: rules.Response{Status: 200}}).head())
	f.Add([]byte(`{"Status":200}`))
	f.Fuzz(func(t *testing.T, head []byte) {
		s := parseHead(head)
		if s == nil {
			return
		}
		if again := parseHead(s.head()); !reflect.DeepEqual(s, again) {
			t.Errorf("%q is %+v, and again %+v", head, s, again)
		}
	})
}

// TestHead: a head is parsed as it was serialized, with few allocations.
func TestHead(t *testing.T) {
	want := full()
	for f, value := range reflect.ValueOf(want.Directives).Fields() {
		if value.IsZero() {
			t.Errorf("full does not set Directives.%s", f.Name)
		}
	}
	head := want.head()
	if got := parseHead(head); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for i := range head {
		if parseHead(head[:i]) != nil {
			t.Errorf("%d of %d bytes are read", i, len(head))
		}
	}
	if n := testing.AllocsPerRun(100, func() { parseHead(head) }); n > 20 {
		t.Errorf("%v allocations", n)
	}
}
