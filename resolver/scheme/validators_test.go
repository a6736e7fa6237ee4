package scheme_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
)

const (
	modified = "Sun, 06 Nov 1994 08:49:37 GMT"
	earlier  = "Sun, 06 Nov 1994 08:49:36 GMT"
	later    = "Sun, 06 Nov 1994 08:49:38 GMT"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := http.ParseTime(text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// unmodified reports whether the response to a request is 304.
func unmodified(request httpmessage.Fields, etag string, modified time.Time) bool {
	instead := scheme.Precondition(request, httpmessage.Fields{}, etag, modified)
	return instead != nil && instead.Status == http.StatusNotModified
}

// TestUnmodified covers RFC 9110 sections 13.1.2 and 13.1.3.
func TestUnmodified(t *testing.T) {
	for _, tt := range []struct {
		name, value, etag string
		want              bool
	}{
		{"If-None-Match", `"a"`, `"a"`, true},
		{"If-None-Match", `"b", W/"a"`, `"a"`, true},
		{"If-None-Match", `"b"`, `W/"a"`, false},
		{"If-None-Match", `"b"`, `"a"`, false},
		{"If-None-Match", `*`, `"a"`, true},
		{"If-None-Match", `*`, "", true}, // RFC 9110 section 13.1.2: a representation exists
		{"If-None-Match", `"b","a,b" , W/"a"`, `"a"`, true},
		{"If-None-Match", `"b", "x,a"`, `"x,a"`, true},
		{"If-None-Match", `"b", "x,a"`, `"x`, false},
		{"If-None-Match", `"x,*"`, `"a"`, false},
		{"If-None-Match", `"x, "a"`, `"a"`, false},
		{"If-None-Match", `a, , "a`, `a`, true}, // without the required quotation marks
		{"If-None-Match", ``, `"a"`, false},
		{"If-None-Match", `,`, ``, false},
		{"If-None-Match", `W/`, ``, false},
		{"If-Modified-Since", modified, "", true},
		{"If-Modified-Since", later, "", true},
		{"If-Modified-Since", earlier, "", false},
		{"If-Modified-Since", "yesterday", "", false},
		{"Range", "bytes=0-", `"a"`, false},
	} {
		if got := unmodified(httpmessage.NewFields(tt.name, tt.value), tt.etag,
			at(t, modified).Add(time.Millisecond)); got != tt.want {
			t.Errorf("%s: %s, with %s: %t", tt.name, tt.value, tt.etag, got)
		}
	}
	// An entity tag takes precedence: RFC 9110 section 13.2.2.
	if unmodified(httpmessage.NewFields("If-None-Match", `"b"`, "If-Modified-Since", later), `"a"`, at(t, modified)) {
		t.Error("If-Modified-Since beside If-None-Match counts")
	}
	if unmodified(httpmessage.NewFields("If-Modified-Since", later), "", time.Time{}) {
		t.Error("a resource without a time was not modified")
	}
}

// TestPrecondition covers RFC 9110 section 13.2.2.
func TestPrecondition(t *testing.T) {
	for _, tt := range []struct {
		section string
		fields  []string
		etag    string
		status  int // 0 for none
	}{
		{"13.1.1", []string{"If-Match", `"b", "a"`}, `"a"`, 0},
		{"13.1.1", []string{"If-Match", `"b", "c,d"`}, `"a"`, 412},
		{"13.1.1", []string{"If-Match", `"a,b"`}, `"a,b"`, 0},
		{"13.1.1: any", []string{"If-Match", `*`}, "", 0},
		{"13.1.1: without a tag", []string{"If-Match", `"a"`}, "", 412},
		{"8.8.3.2: strong", []string{"If-Match", `W/"a"`}, `W/"a"`, 412},
		{"8.8.3.2: strong", []string{"If-Match", `W/"a"`}, `"a"`, 412},
		{"13.1.4", []string{"If-Unmodified-Since", modified}, `"a"`, 0},
		{"13.1.4", []string{"If-Unmodified-Since", later}, `"a"`, 0},
		{"13.1.4", []string{"If-Unmodified-Since", earlier}, `"a"`, 412},
		{"13.1.4: no date", []string{"If-Unmodified-Since", "yesterday"}, `"a"`, 0},
		{"13.1.4: beside If-Match", []string{"If-Match", `"a"`, "If-Unmodified-Since", earlier}, `"a"`, 0},
		{"13.2.2: If-Match is first", []string{"If-Match", `"b"`, "If-None-Match", `"a"`}, `"a"`, 412},
		{"13.2.2: then If-None-Match", []string{"If-Match", `"a"`, "If-None-Match", `"a"`}, `"a"`, 304},
		{
			"13.2.2: then If-Modified-Since",
			[]string{"If-Unmodified-Since", modified, "If-Modified-Since", modified},
			`"a"`, 304,
		},
		{"13.1", nil, `"a"`, 0},
	} {
		request := httpmessage.Fields{}
		for i := 0; i < len(tt.fields); i += 2 {
			request.Set(tt.fields[i], tt.fields[i+1])
		}
		header := httpmessage.NewFields("Etag", tt.etag, "Cache-Control", "max-age=60")
		instead := scheme.Precondition(request, header, tt.etag, at(t, modified).Add(time.Millisecond))
		if (instead == nil) != (tt.status == 0) || instead != nil && instead.Status != tt.status {
			t.Errorf("section %s: %v, with %s: %+v", tt.section, tt.fields, tt.etag, instead)
		}
		if tt.status == http.StatusPreconditionFailed && instead != nil &&
			instead.Fields.Get("Cache-Control") != "no-store" {
			t.Errorf("412 can be stored: %v", instead.Fields)
		}
	}
	if instead := scheme.Precondition(httpmessage.NewFields("If-Unmodified-Since", earlier), nil, "",
		time.Time{}); instead != nil {
		t.Errorf("section 13.1.4: without a time: %+v", instead)
	}
}

// FuzzEntityTags requires that each tag of a list is found, whatever surrounds it.
func FuzzEntityTags(f *testing.F) {
	for _, list := range []string{`"a", W/"b,c"`, `*`, ` ,, "`, `W/`, `W/",`, `a"b"c`} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		none := unmodified(httpmessage.NewFields("If-None-Match", list), "", time.Time{})
		if any := unmodified(httpmessage.NewFields("If-None-Match", list), `"x,y"`, time.Time{}); none && !any {
			t.Errorf("%q has * only without a tag", list)
		}
		if !unmodified(httpmessage.NewFields("If-None-Match", `"x,y",`+list), `W/"x,y"`, time.Time{}) {
			t.Errorf("the tag before %q is not found", list)
		}
	})
}

// TestRangeOf covers RFC 9110 section 14.
func TestRangeOf(t *testing.T) {
	const size = 100
	for _, tt := range []struct {
		method, value, condition string
		want                     scheme.Range
		ok                       bool
		content                  string
	}{
		{"GET", "bytes=0-9", "", scheme.Range{First: 0, Length: 10}, true, "bytes 0-9/100"},
		{"GET", "bytes=90-", "", scheme.Range{First: 90, Length: 10}, true, "bytes 90-99/100"},
		{"GET", "bytes=90-1000", "", scheme.Range{First: 90, Length: 10}, true, "bytes 90-99/100"},
		{"GET", "bytes=-10", "", scheme.Range{First: 90, Length: 10}, true, "bytes 90-99/100"},
		{"GET", "bytes=-1000", "", scheme.Range{First: 0, Length: 100}, true, "bytes 0-99/100"},
		{"GET", "Bytes=99-99", "", scheme.Range{First: 99, Length: 1}, true, "bytes 99-99/100"},
		{"GET", "bytes=100-", "", scheme.Range{First: 100}, true, "bytes */100"},
		{"GET", "bytes=9223372036854775807-", "", scheme.Range{First: 1<<63 - 1}, true, "bytes */100"},
		{"GET", "bytes=0-9223372036854775807", "", scheme.Range{First: 0, Length: 100}, true, "bytes 0-99/100"},
		{"GET", "bytes=-0", "", scheme.Range{First: 100}, true, "bytes */100"},
		{"GET", "bytes=9-1", "", scheme.Range{}, false, ""},
		{"GET", "bytes=18446744073709551616-", "", scheme.Range{}, false, ""},
		{"GET", "bytes=0-1,3-4", "", scheme.Range{}, false, ""},
		{"GET", "lines=0-1", "", scheme.Range{}, false, ""},
		{"GET", "bytes=a-b", "", scheme.Range{}, false, ""},
		{"GET", "bytes=", "", scheme.Range{}, false, ""},
		{"GET", "", "", scheme.Range{}, false, ""},
		{"HEAD", "bytes=0-9", "", scheme.Range{}, false, ""},
		{"GET", "bytes=0-9", `"a"`, scheme.Range{First: 0, Length: 10}, true, "bytes 0-9/100"},
		{"GET", "bytes=0-9", `"b"`, scheme.Range{}, false, ""},
		{"GET", "bytes=0-9", `W/"a"`, scheme.Range{}, false, ""},
		{"GET", "bytes=0-9", modified, scheme.Range{First: 0, Length: 10}, true, "bytes 0-9/100"},
		{"GET", "bytes=0-9", later, scheme.Range{}, false, ""},
	} {
		header := httpmessage.NewFields("Range", tt.value)
		if tt.condition != "" {
			header.Set("If-Range", tt.condition)
		}
		got, ok := scheme.ParseRange(scheme.Request{Request: httpmessage.Request{Method: tt.method, Fields: header}},
			size, `"a"`, at(t, modified))
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s %s, if %s: %+v %t", tt.method, tt.value, tt.condition, got, ok)
		}
		if !ok {
			continue
		}
		fields, want := httpmessage.Fields{}, http.StatusPartialContent
		if tt.want.Length == 0 {
			want = http.StatusRequestedRangeNotSatisfiable
		}
		if status := got.Status(&fields, size); status != want || fields.Get("Content-Range") != tt.content {
			t.Errorf("%s: %d %v", tt.value, status, fields)
		}
	}
}
