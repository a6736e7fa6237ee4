package httpmessage_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestLoops checks that a loop ends at the second visit, and a chain at the fourth instance: RFC 9110 section
// 7.6.3.
func TestLoops(t *testing.T) {
	own, other := httpmessage.NewViaName(), httpmessage.NewViaName()
	if own == other {
		t.Fatalf("%s is not unique", own)
	}
	for _, tt := range []struct {
		name  httpmessage.ViaName
		via   string // also used for CDN-Loop, without the protocol version
		loops bool
	}{
		{own, "", false},
		{own, "1.1 cache.example", false},
		{own, own.String(), true},
		{own, "1.0 first, " + own.String() + ", 1.1 last", true},
		{own, other.String(), false},
		{own, own.String() + "0", false},
		{own, strings.Repeat(other.String()+", ", 3) + "1.1 a", false},
		{own, strings.Repeat(other.String()+", ", 4) + "1.1 a", true},
		{httpmessage.ViaName{}, "1.1 urnd", false},
		{httpmessage.ViaName{}, strings.Repeat("1.1 urnd, ", 4), true},
	} {
		loop := strings.NewReplacer("1.0 ", "", "1.1 ", "").Replace(tt.via)
		for _, header := range []http.Header{
			{"Via": {tt.via}},
			{"Via": strings.Split(tt.via, ", ")},
			{"Cdn-Loop": {loop}},
			{"Cdn-Loop": {strings.ReplaceAll(loop, ",", " ; a=b,")}},
		} {
			if got := tt.name.Loops(httpmessage.FromHeader(header).Values); got != tt.loops {
				t.Errorf("%s behind %q: %t", tt.name, header, got)
			}
		}
	}
	before := httpmessage.NewFields("cdn-loop", "cdn.example", "Cookie", "a", "VIA", "1.0 first")
	got := own.FieldsFor(before.Values)
	if got.List("Via") != "1.0 first, "+own.String() || got.List("CDN-Loop") != "cdn.example, "+own.String()[4:] ||
		len(got) != 4 {
		t.Errorf("passed on: %v", got)
	}
	if !own.Loops(got.Values) || own.Loops(before.Values) {
		t.Errorf("%v is not a loop, or %v is one", got, before)
	}
}

// TestIsTraceparent checks the syntax of W3C Trace Context section 3.2.
func TestIsTraceparent(t *testing.T) {
	good := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for value, want := range map[string]bool{
		good: true, good + "-later": true, "": false, good[1:]: false, strings.ToUpper(good): false, good + "x": false,
		good + "\r\nX: y": false, good + "-\r\nX: y": false, good + "-" + strings.Repeat("a", 100): false,
		" " + good: false,
	} {
		if got := httpmessage.IsTraceparent(value); got != want {
			t.Errorf("%q: %t", value, got)
		}
	}
}
