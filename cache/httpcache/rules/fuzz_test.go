package rules

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// FuzzDate: every accepted date has the meaning of RFC 9110 section 5.6.7.
func FuzzDate(f *testing.F) {
	for _, text := range []string{
		"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
		"THU, 18 AUG 2050 02:01:18 gMT", "Sun, 06  Nov 1994 8:49:37 GMT", "0", "", "Mon, 01 Jan 0001 00:00:00 GMT",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := ParseDate(text)
		if !ok {
			return
		}
		again, ok := ParseDate(at.Format(http.TimeFormat))
		if !ok || !again.Equal(at) || at.Nanosecond() != 0 || at.Location() != time.UTC {
			t.Errorf("%q is %v, and that %v", text, at, again)
		}
	})
}

func TestDate(t *testing.T) {
	for _, test := range []struct {
		text string
		want string // "" if invalid
	}{
		{"Thu, 18 Aug 2050 02:01:18 GMT", "2050-08-18T02:01:18Z"},
		{"Tue, 19 Jan 2038 14:14:08 GMT", "2038-01-19T14:14:08Z"},
		{"Sat, 20 Nov 2286 17:46:39 GMT", "2286-11-20T17:46:39Z"},
		{"Thursday, 18-Aug-50 02:01:18 GMT", "2050-08-18T02:01:18Z"},
		{"Thu Aug  8 02:01:18 2050", "2050-08-08T02:01:18Z"},
		{"Thu Aug 18 02:01:18 2050", "2050-08-18T02:01:18Z"},
		{"THU, 18 Aug 2050 02:01:18 GMT", "2050-08-18T02:01:18Z"},
		{"Thu, 18 AUG 2050 02:01:18 GMT", "2050-08-18T02:01:18Z"},
		{"Thu, 18 Aug 2050 02:01:18 gMT", "2050-08-18T02:01:18Z"},
		{"Thu, 18 Aug 2050 02:01:18 UTC", ""},
		{"Thu, 18 Aug 2050 02:01:18 AEST", ""},
		{"Thu, 18 Aug 50 02:01:18 GMT", ""},
		{"Thu 18 Aug 2050 02:01:18 GMT", ""},
		{"Thu, 18  Aug  2050 02:01:18 GMT", ""},
		{"Thu,  18 Aug 2050 2:01:18 GMT", ""},
		{"Thu, 18-Aug-2050 02:01:18 GMT", ""},
		{"Thu, 18 Aug 2050 02.01.18 GMT", ""},
		{"Thu, 18 Aug 2050 2:01:18 GMT", ""},
		{"Thu, 18 Aug 2050 02:01:18.5 GMT", ""},
		{"Thu, 32 Aug 2050 02:01:18 GMT", ""},
		{"0", ""},
		{"-1", ""},
		{" Thu, 18 Aug 2050 02:01:18 GMT", ""},
	} {
		at, ok := ParseDate(test.text)
		if got := at.Format(time.RFC3339); ok != (test.want != "") || ok && got != test.want {
			t.Errorf("%q: %s, %t; want %q", test.text, got, ok, test.want)
		}
	}
}

// FuzzRange: ranges are within the representation, and a written Content-Range is parsed to the same range.
func FuzzRange(f *testing.F) {
	f.Add("bytes=0-1,-5,7-", int64(10))
	f.Add("bytes=99999999999999999999-", int64(0))
	f.Add("BYTES = 0-0, ,", int64(1))
	f.Fuzz(func(t *testing.T, text string, length int64) {
		length = max(length, 0)
		all := ParseRanges(nil, "GET", []string{text}, length)
		if len(all.Spans) > maxRanges || all.Unsatisfiable && len(all.Spans) > 0 {
			t.Errorf("%+v", all)
		}
		for _, part := range all.Spans {
			if part.Start < 0 || part.Length() <= 0 || part.End > length {
				t.Errorf("%q of %d is %+v", text, length, part)
			}
			written := httpmessage.NewFields("Content-Range", string(AppendContentRange(nil, part, length)))
			if again, total, ok := ParseContentRange(written); !ok || again != part || total != length {
				t.Errorf("%v is %+v of %d", written, again, total)
			}
		}
	})
}

// FuzzContentRange: RFC 9110 section 14.4.
func FuzzContentRange(f *testing.F) {
	f.Add("bytes 0-3/10")
	f.Add("bytes 99999999999999999999-99999999999999999999/*")
	f.Add("bytes */10")
	f.Fuzz(func(t *testing.T, text string) {
		part, length, ok := ParseContentRange(httpmessage.NewFields("Content-Range", text))
		if ok && (part.Start < 0 || part.Length() <= 0 || length >= 0 && part.End > length) {
			t.Errorf("%q is %+v of %d", text, part, length)
		}
	})
}

// FuzzNormalValue: normalization is idempotent, and independent of the division into lines.
func FuzzNormalValue(f *testing.F) {
	f.Add("Accept-Language", "en, DE;q=1.0 ,, fr;Q=0.5", "x")
	f.Add("X-A", `"a, b" , c\`, `d"`)
	f.Add("Accept", `a/b;P="X, Y";q=1, "`, "")
	f.Fuzz(func(t *testing.T, name, one, two string) {
		name = http.CanonicalHeaderKey(name)
		once := normalValue(name, []string{one, two})
		if twice := normalValue(name, []string{once}); twice != once {
			t.Errorf("%q and %q are %q, and that %q", one, two, once, twice)
		}
		if joined := normalValue(name, []string{one + "," + two}); joined != once {
			t.Errorf("%q and %q are %q, and joined %q", one, two, once, joined)
		}
	})
}

// FuzzCondition: no input panics, and an entity tag matches itself.
func FuzzCondition(f *testing.F) {
	f.Add(`"1", W/"2", *`, "Sun, 06 Nov 1994 08:49:37 GMT", `"1"`)
	f.Fuzz(func(t *testing.T, match, since, etag string) {
		s := &Response{Status: 200, ETag: etag, Fields: httpmessage.Fields{}}
		s.Unmodified(httpmessage.NewFields(IfNoneMatch, match, IfModifiedSince, since).Values)
		s.Unmodified(httpmessage.NewFields(IfModifiedSince, since).Values)
		s.RangeApplies(match)
		if strings.HasPrefix(etag, `"`) && strings.Count(etag, `"`) == 2 && strings.HasSuffix(etag, `"`) {
			if !s.Unmodified(httpmessage.NewFields(IfNoneMatch, `"x", W/`+etag).Values) {
				t.Errorf("%s does not match itself", etag)
			}
		}
	})
}

// FuzzFreshness: no field results in a negative age or lifetime, or in an overflow of their sum, even if the
// clock jumps.
func FuzzFreshness(f *testing.F) {
	f.Add("Mon, 01 Jan 0001 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "2147483648",
		"max-age=99999999999999999999",
		"Mon, 01 Jan 0001 00:00:00 GMT", int64(1)<<62, int64(-1)<<62)
	f.Add("Sun, 06 Nov 1994 08:49:37 GMT", "0", "-1", "s-maxage=-1, public", "x", int64(0), int64(0))
	f.Fuzz(func(t *testing.T, date, expires, age, control, modified string, delay, later int64) {
		requested := time.Unix(1_795_000_000, 0)
		received := requested.Add(time.Duration(delay))
		header := httpmessage.NewFields("Date", date, "Expires", expires, "Age", age, "Cache-Control", control,
			"Last-Modified", modified)
		got, heuristic := &httpmessage.Response{Status: 200, Fields: header},
			Heuristic{Fraction: 0.1, MaxLifetime: time.Hour}
		s, _ := NewResponse("", nil, got, NewControl(nil, header, nil), heuristic, Arrival{requested, received})
		if s.Lifetime < 0 || s.Lifetime > MaxLifetime || s.InitialAge < 0 || s.InitialAge > MaxLifetime {
			t.Errorf("lifetime %v, age %v", s.Lifetime, s.InitialAge)
		}
		now := received.Add(time.Duration(later))
		if age := s.Age(now); age < s.InitialAge || s.TTL(now) > s.Lifetime {
			t.Errorf("age %v from %v, ttl %v of %v", age, s.InitialAge, s.TTL(now), s.Lifetime)
		}
		d := ParseRequest(httpmessage.NewFields("Cache-Control", control))
		s.UseFor(d, now)
		s.UsableOnError(d, now, time.Hour)
	})
}

// FuzzTargeted: every field is either parsed or ignored.
func FuzzTargeted(f *testing.F) {
	f.Add("max-age=60, no-store=?0, private=(a b);x, s-maxage=-1")
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := targetedDirectives([]string{text})
		if ok {
			directivesOf(Control{Directives: d})
		}
		if seconds, _ := d.Seconds("max-age"); seconds < 0 {
			t.Error(seconds)
		}
		SelectorsOf(httpmessage.NewFields("Vary", text), httpmessage.Fields{})
		storedFields(nil, httpmessage.NewFields("Connection", text), cachecontrol.Parse([]string{text}))
		preferredLanguage([]string{text})
	})
}

// TestClockSetBack: a stored response is never younger than on receipt, and ages by the clock that advanced
// more.
func TestClockSetBack(t *testing.T) {
	received := time.Now()
	s := &Response{Received: received, InitialAge: 5 * time.Second, Freshness: Freshness{Lifetime: time.Minute}}
	wall := received.Round(0) // without the monotonic clock, as after a restart
	for _, test := range []struct {
		name string
		now  time.Time
		want time.Duration
	}{
		{"monotonic", received.Add(30 * time.Second), 35 * time.Second},
		{"wall clock set back", wall.Add(-time.Hour), 5 * time.Second},
		{"wall clock set forward", wall.Add(time.Hour), time.Hour + 5*time.Second},
		{"far forward", wall.Add(1<<63 - 1), MaxLifetime + 5*time.Second},
	} {
		if got := s.Age(test.now); got != test.want {
			t.Errorf("%s: age %v, want %v", test.name, got, test.want)
		}
	}
}
